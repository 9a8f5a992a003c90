//! Runs kernels from text.

use half::{bf16, f16};
use tileproof_compiler::compile;
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};

/// A value that lies in memory.
pub(crate) trait Element: Copy {
    /// Its name in a kernel.
    const NAME: &'static str;
    /// Its bytes in memory.
    fn to_bytes(self) -> Vec<u8>;
    /// The value of these bytes.
    fn of_bytes(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($ty:ident)*) => {$(
        impl Element for $ty {
            const NAME: &'static str = stringify!($ty);
            fn to_bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn of_bytes(bytes: &[u8]) -> Self {
                $ty::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )*};
}

elements!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 f16 bf16);

/// Runs `body` for each element of the inputs, which it knows as `a`, `b` and `c`: its value is the result.
///
/// # Errors
/// What the compiler refuses, and what the simulator finds.
pub(crate) fn map<A: Element, R: Element>(body: &str, [a, b, c]: [&[A]; 3]) -> Result<Vec<R>, String> {
    let item = format!(
        "fn kernel(x: &Tensor<{0}, 1>, y: &Tensor<{0}, 1>, z: &Tensor<{0}, 1>, output: &mut Tensor<{1}, 1>) {{
            let i = block_x() * 32 + thread_x();
            if i < output.len() {{
                let (a, b, c) = (x[[i]], y[[i]], z[[i]]);
                output[[i]] = {{ let _ = (a, b, c); {body} }};
            }}
        }}",
        A::NAME,
        R::NAME
    );
    let attribute = "block = [32], grid = [output.len().div_ceil(32)], requires(x.len() == output.len(), y.len() == output.len(), z.len() == output.len())";
    let compiled = compile(attribute, &item)?;
    let count = a.len() as u64;
    let bytes = |list: &[A]| list.iter().flat_map(|value| value.to_bytes()).collect::<Vec<u8>>();
    let inputs = [bytes(a), bytes(b), bytes(c)];
    let width = size_of::<R>();
    let mut output = vec![0; a.len() * width];
    let tensor = |buffer| {
        Argument::Tensor(TensorArgument { buffer, extents: vec![count], strides: Vec::new(), base: 0 })
    };
    let mut arguments: Vec<Argument<'_>> = inputs.iter().map(|input| tensor(Buffer::Read(input))).collect();
    arguments.push(tensor(Buffer::Write(&mut output)));
    simulate(&compiled.kernel, [a.len().div_ceil(32) as u32, 1, 1], &mut arguments)
        .map_err(|fault| fault.to_string())?;
    Ok(output.chunks_exact(width).map(R::of_bytes).collect())
}
