//! tileproof
