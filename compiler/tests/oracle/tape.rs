//! Where the decisions of a generator come from.

/// Bytes that decide, so that a shorter or smaller tape is a simpler kernel; at its end it says 0.
pub(crate) struct Tape<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Tape<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Tape<'a> {
        Tape { bytes: bytes.iter() }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % n
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// True once in `n`, and not on an empty tape.
    pub(crate) fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}
