//! The library's kernels as functions of C, for programs in other languages: on device memory that they own, on their stream.
//!
//! Memory is passed as addresses, a tensor as its extents; all tensors are row-major and without gaps. Work is enqueued on the stream
//! that is passed, of the primary context of the device, which libraries on CUDA's runtime use; 0 is the default stream.
//! Every function returns 0, or −1 after an error that [`tileproof_error`] tells the same thread. A function of C cannot know whose memory
//! an address is: all are unsafe, and what their callers promise stands in [Safety](#safety).
//!
//! ```c
//! int tileproof_permute(int device, uint64_t stream, int element, uint64_t input, uint64_t output,
//!                       size_t rank, const size_t *extents, const size_t *order);
//! int tileproof_transpose_in_place(int device, uint64_t stream, int element, uint64_t matrix, size_t side);
//! int tileproof_copy(int device, uint64_t stream, int element, uint64_t input, uint64_t output, size_t elements);
//! const char *tileproof_error(void);
//! ```
//!
//! # Elements
//!
//! `element` is the size of an element in bytes: 1, 2, 4 or 8. What is moved is bits.
//!
//! # Safety
//!
//! For all functions that enqueue work:
//! - `stream` is 0 or a stream of the device's primary context, which exists while the call lasts.
//! - The addresses are those of as many elements of device memory as the extents say. Until the stream has run, they stay
//!   allocated, nothing that the stream does not order with this work writes what is read, and nothing reads or writes what is written.
//! - `extents` and `order` are arrays of `rank` numbers.

mod call;
mod context;

use call::{Call, Failure, call};
use std::ffi::{c_char, c_int};

/// Changes the order of the dimensions: dimension `d` of the output is dimension `order[d]` of the input. Of rank 1 to 5. An order
/// that only exchanges the last two is a transpose.
///
/// # Safety
/// As the [crate](crate#safety) says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileproof_permute(
    device: c_int,
    stream: u64,
    element: c_int,
    input: u64,
    output: u64,
    rank: usize,
    extents: *const usize,
    order: *const usize,
) -> c_int {
    let numbers = |first: *const usize| match rank {
        0 => &[][..],
        // SAFETY: the caller's.
        _ => unsafe { std::slice::from_raw_parts(first, rank) },
    };
    let call = Call::Permute { input, output, extents: numbers(extents), order: numbers(order) };
    // SAFETY: the caller's.
    reported(|| unsafe { self::call(device, stream, element, &call) })
}

/// Transposes a square matrix into its own memory.
///
/// # Safety
/// As the [crate](crate#safety) says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileproof_transpose_in_place(
    device: c_int,
    stream: u64,
    element: c_int,
    matrix: u64,
    side: usize,
) -> c_int {
    // SAFETY: the caller's.
    reported(|| unsafe { call(device, stream, element, &Call::InPlace { matrix, side }) })
}

/// Copies elements.
///
/// # Safety
/// As the [crate](crate#safety) says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileproof_copy(
    device: c_int,
    stream: u64,
    element: c_int,
    input: u64,
    output: u64,
    elements: usize,
) -> c_int {
    // SAFETY: the caller's.
    reported(|| unsafe { call(device, stream, element, &Call::Copy { input, output, elements }) })
}

/// What went wrong in this thread last; an empty text if nothing has. It stays until the thread's next call.
#[unsafe(no_mangle)]
pub extern "C" fn tileproof_error() -> *const c_char {
    context::error()
}

/// 0, or −1 with the error kept. A panic is an error too: it must not leave through C.
fn reported(run: impl FnOnce() -> Result<(), Failure> + std::panic::UnwindSafe) -> c_int {
    let text = match std::panic::catch_unwind(run) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error.to_string(),
        Err(_) => {
            "the library panicked, which is a defect of tileproof; please report what it printed".to_owned()
        }
    };
    context::keep(&text);
    -1
}

#[cfg(test)]
mod tests {
    use super::{tileproof_copy, tileproof_error, tileproof_permute};
    use std::ffi::CStr;

    fn error() -> String {
        // SAFETY: the text ends with 0, and stays until the next call.
        unsafe { CStr::from_ptr(tileproof_error()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn arguments_are_checked_before_the_device() {
        // SAFETY: no memory is looked at.
        let permute = |element, rank: usize, extents: &[usize], order: &[usize]| unsafe {
            assert!(extents.len() >= rank && order.len() >= rank);
            tileproof_permute(0, 0, element, 0, 0, rank, extents.as_ptr(), order.as_ptr())
        };
        assert_eq!(permute(3, 1, &[1], &[0]), -1);
        assert!(error().contains("elements of 3 bytes"), "{}", error());
        assert_eq!(permute(4, 6, &[1; 6], &[0, 1, 2, 3, 4, 5]), -1);
        assert!(error().contains("rank 6"), "{}", error());
        assert_eq!(permute(4, 0, &[], &[]), -1);
        assert!(error().contains("rank 0"), "{}", error());
        // SAFETY: likewise.
        assert_eq!(unsafe { tileproof_copy(-1, 0, 4, 0, 0, 0) }, -1);
        assert!(error().contains("device -1"), "{}", error());
    }
}
