//! Kernels in which threads compute together: compiled from text, run on the simulator, compared with plain Rust; and
//! their CUDA text as golden files, which NVRTC compiles elsewhere.

mod atomics;
mod collectives;
mod kernels;
mod library;
mod matrices;

use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};
use tileproof_compiler::{Compiled, compile};

/// Compiles the text of a kernel, its attribute included.
#[track_caller]
fn compiled(source: &str) -> Compiled {
    match outcome(source) {
        Ok(compiled) => compiled,
        Err(errors) => panic!("{errors}\nin\n{source}"),
    }
}

/// What the compiler says about a kernel that it must refuse.
#[track_caller]
fn errors(source: &str) -> String {
    match outcome(source) {
        Ok(_) => panic!("no error in\n{source}"),
        Err(errors) => errors,
    }
}

fn outcome(source: &str) -> Result<Compiled, String> {
    let (attribute, item) = source.trim().split_once(")]\n").expect("an attribute");
    let attribute = attribute.trim().strip_prefix("#[tiled_kernel(").expect("the kernel's attribute");
    compile(attribute, item).map_err(|errors| errors.to_string())
}

/// A tensor of rank 1 as an argument.
fn tensor(buffer: Buffer<'_>, extent: usize) -> Argument<'_> {
    Argument::Tensor(TensorArgument { buffer, extents: vec![extent as u64], strides: vec![], base: 0 })
}

/// Values as they lie in memory.
trait Plain: Copy {
    fn bytes(self) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($ty:ty)*) => {$(impl Plain for $ty {
        fn bytes(self) -> Vec<u8> {
            self.to_le_bytes().to_vec()
        }
        fn of(bytes: &[u8]) -> Self {
            <$ty>::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
        }
    })*};
}

plain! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

fn bytes<T: Plain>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|value| value.bytes()).collect()
}

/// Runs a kernel of an input and an output of rank 1; the output.
#[track_caller]
fn run<T: Plain, U: Plain>(source: &str, blocks: u32, input: &[T], output: &[U]) -> Vec<U> {
    let compiled = compiled(source);
    let input_bytes = bytes(input);
    let mut output_bytes = bytes(output);
    let mut arguments = [
        tensor(Buffer::Read(&input_bytes), input.len()),
        tensor(Buffer::Write(&mut output_bytes), output.len()),
    ];
    if let Err(fault) = simulate(&compiled.kernel, [blocks, 1, 1], &mut arguments) {
        panic!("{fault}\nin\n{source}");
    }
    output_bytes.chunks_exact(size_of::<U>()).map(U::of).collect()
}

/// Numbers that look random and fit any type.
fn numbers(count: usize) -> impl Iterator<Item = u8> {
    (0..count as u32).map(|i| ((i.wrapping_mul(2_654_435_761) >> 13) % 97) as u8)
}

/// Compares the CUDA text of a kernel with its golden file.
#[track_caller]
fn golden(name: &str, source: &str) {
    let text = compiled(source).cuda;
    expect_test::expect_file![format!("{}/tests/golden/{name}.cu", env!("CARGO_MANIFEST_DIR"))]
        .assert_eq(&text);
}
