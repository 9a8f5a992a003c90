//! Conversions between all types of elements.

use half::{bf16, f16};

/// A conversion that [`Vector::cast`](super::vector::Vector::cast) makes of each value: between all element types.
pub trait CastTo<U> {
    /// The value in the other type.
    fn cast_to(self) -> U;
}

macro_rules! casts {
    ($($from:ident)*) => { $(casts!(@from $from i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);)* };
    (@from $from:ident $($to:ident)*) => {
        $(impl CastTo<$to> for $from {
            fn cast_to(self) -> $to {
                self as $to
            }
        })*

        impl CastTo<f16> for $from {
            fn cast_to(self) -> f16 {
                casts!(@half f16 F16 $from self)
            }
        }

        impl CastTo<bf16> for $from {
            fn cast_to(self) -> bf16 {
                casts!(@half bf16 BF16 $from self)
            }
        }
    };
    // `half` rounds f64 twice, or not by all of its bits.
    (@half $half:ident $format:ident f64 $value:ident) => {
        $half::from_bits(tileproof_model::half::$format.nearest($value))
    };
    (@half $half:ident $format:ident $from:ident $value:ident) => { $half::from_f32($value as f32) };
}

macro_rules! half_casts {
    ($($from:ident)*) => {$(
        half_casts!(@of $from i8 i16 i32 i64 u8 u16 u32 u64);

        impl CastTo<f32> for $from {
            fn cast_to(self) -> f32 {
                self.to_f32()
            }
        }

        impl CastTo<f64> for $from {
            fn cast_to(self) -> f64 {
                self.to_f64()
            }
        }

        impl CastTo<f16> for $from {
            fn cast_to(self) -> f16 {
                f16::from_f32(self.to_f32())
            }
        }

        impl CastTo<bf16> for $from {
            fn cast_to(self) -> bf16 {
                bf16::from_f32(self.to_f32())
            }
        }
    )*};
    (@of $from:ident $($to:ident)*) => {$(
        impl CastTo<$to> for $from {
            fn cast_to(self) -> $to {
                self.to_f32() as $to
            }
        }
    )*};
}

casts!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
half_casts!(f16 bf16);
