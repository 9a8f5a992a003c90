//! One warp-wide memory access and what it costs.

/// The instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `ld.shared`
    LoadShared,
    /// `st.shared`
    StoreShared,
    /// `ld.global`
    LoadGlobal,
    /// `st.global`
    StoreGlobal,
}
