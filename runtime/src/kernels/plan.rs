//! What a copy will do: which kernels move which words, from where to where.
//!
//! A [`Plan`] is made from numbers alone (extents, strides, addresses), needs no GPU, and prints. Dimensions of one element are
//! dropped, the others ordered as they lie in the output, and neighbours that are one dimension on both sides are joined. Where the
//! innermost dimension is contiguous on both sides, elements are moved as words of up to 16 bytes; what lies before the first
//! aligned word of a row and behind its last is a step of its own. How the innermost dimensions of the two sides relate decides the
//! [`Kernel`].

use super::kernel;
use crate::argument::address;
use crate::error::Error;
use crate::scalar::{Element, ScalarType};
use crate::shape::ViewError;
use crate::view::{TensorView, TensorViewMut};
use std::fmt;

/// The kernels of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Both sides are without gaps.
    Linear,
    /// The innermost dimension is contiguous on both sides.
    Rows,
    /// The same, for short rows: a warp moves several.
    ShortRows,
    /// The contiguous dimension of the input is another one than that of the output: planes are transposed.
    Turned,
    /// The same, for large planes whose rows are aligned to 16 bytes on both sides.
    Wide,
    /// The same, for planes of 32 columns of 4 bytes: a block turns two.
    WidePairs,
    /// The same, for large planes whose rows begin anywhere.
    Skewed,
    /// The same, for planes of few columns.
    TurnedTall,
    /// The same, for planes of few rows.
    TurnedWide,
    /// The same, for many planes of few rows and columns: a block turns several.
    TurnedSmall,
    /// Records, one right behind another, to one row a field.
    FieldsOfRecords(Record),
    /// One row a field to records.
    RecordsOfFields(Record),
    /// A side has no contiguous dimension.
    Strided,
}

/// Records of few fields, by the size of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Record {
    Bytes1(Fields),
    Bytes2(Fields),
    Bytes4(Fields),
    Bytes8(Fields),
}

/// How many fields a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Fields {
    Two,
    Three,
    Four,
}

/// What a kernel moves at a time, in one instruction of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Word {
    Bytes1,
    Bytes2,
    Bytes4,
    Bytes8,
    Bytes16,
}

/// A dimension: its extent, and the distances between neighbours on both sides, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// How many words.
    pub extent: usize,
    /// The stride of the input, in words.
    pub input: usize,
    /// The stride of the output, in words.
    pub output: usize,
}

/// A copy of words by one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which kernel.
    pub kernel: Kernel,
    /// What it moves at a time.
    pub word: Word,
    /// Bytes from the input's first element to the first word.
    pub input: usize,
    /// Bytes from the output's first element to the first word.
    pub output: usize,
    /// The dimensions of a launch, outermost first. The last one is contiguous in the input, but for [`Kernel::Strided`]; in the
    /// output so is the same one, or of a kernel that turns planes the one before.
    pub dimensions: Vec<Dimension>,
    /// The dimensions that are more than the kernel takes: there is a launch for each of their indices.
    pub launches: Vec<Dimension>,
}

/// A copy, as steps in order. Without work there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side<'a> {
    /// The strides, in elements, one a dimension.
    pub strides: &'a [usize],
    /// The address of the first element, in bytes, a multiple of the element's size.
    pub address: u64,
}

/// How many wide words of a row are worth steps for what lies before and behind them.
const WORTH_EDGES: usize = 32;

/// The most words in a dimension that counts as short.
const SHORT: usize = 8;

/// The most dimensions of a kernel's tensors.
const RANK: usize = 5;

/// The threads that neighbours of a strided copy are worth.
const WARP: usize = 32;

/// The plan of copying elements of a type, of these extents.
///
/// # Panics
/// If a side has not one stride a dimension.
pub fn plan(element: ScalarType, extents: &[usize], input: Side<'_>, output: Side<'_>) -> Plan {
    assert_eq!(extents.len(), input.strides.len(), "the input has a stride a dimension");
    assert_eq!(extents.len(), output.strides.len(), "the output has a stride a dimension");
    if extents.contains(&0) {
        return Plan::default();
    }
    let strides = input.strides.iter().zip(output.strides);
    let dimensions =
        extents.iter().zip(strides).map(|(&extent, (&input, &output))| Dimension { extent, input, output });
    let dimensions = joined(dimensions.filter(|dimension| dimension.extent > 1).collect());
    let words = Words { word: Word::of(element), input: 0, output: 0, dimensions };
    let parts = widened(words, input.address, output.address);
    let steps = parts.into_iter().map(|words| placed(words, [input.address, output.address])).collect();
    Plan { steps }
}

/// The plan of [`copy`](super::copy).
///
/// # Errors
/// If the extents differ.
pub fn of_copy<T: Element, const R: usize>(
    input: &TensorView<'_, T, R>,
    output: &TensorViewMut<'_, T, R>,
) -> Result<Plan, Error> {
    of_permutation("copy", input, std::array::from_fn(|d| d), output)
}

/// The plan of [`permute`](super::transpose::permute).
///
/// # Errors
/// If `order` is not a permutation, or the extents differ.
pub fn of_permute<T: Element, const R: usize>(
    input: &TensorView<'_, T, R>,
    order: [usize; R],
    output: &TensorViewMut<'_, T, R>,
) -> Result<Plan, Error> {
    of_permutation("permute", input, order, output)
}

/// The plan of a function of that name.
pub(super) fn of_permutation<T: Element, const R: usize>(
    name: &'static str,
    input: &TensorView<'_, T, R>,
    order: [usize; R],
    output: &TensorViewMut<'_, T, R>,
) -> Result<Plan, Error> {
    let from = permuted(name, &input.shape.extents, &input.shape.strides, order, &output.shape.extents)?;
    Ok(plan(
        T::TYPE,
        &output.shape.extents,
        Side { strides: &from, address: address(&input.data) },
        Side { strides: &output.shape.strides, address: address(&output.data) },
    ))
}

/// The strides of the input in the order of the output's dimensions.
pub(super) fn permuted<const R: usize>(
    kernel: &'static str,
    extents: &[usize; R],
    strides: &[usize; R],
    order: [usize; R],
    output: &[usize; R],
) -> Result<[usize; R], Error> {
    let mut sorted = order;
    sorted.sort_unstable();
    if sorted.iter().enumerate().any(|(d, from)| d != *from) {
        return Err(ViewError::NotAPermutation { order: order.to_vec() }.into());
    }
    let turned = order.map(|d| extents[d]);
    if turned != *output {
        let contract = "output.extents() == order.map(|d| input.extents()[d])";
        let values =
            format!("input.extents() = {extents:?}, order = {order:?}, output.extents() = {output:?}");
        return Err(Error::Contract { kernel, contract, values });
    }
    Ok(order.map(|d| strides[d]))
}

/// Words to be copied, their dimensions outermost first.
struct Words {
    word: Word,
    /// Bytes from the first element.
    input: usize,
    output: usize,
    dimensions: Vec<Dimension>,
}

/// The dimensions as they lie in the output, those that are one on both sides joined.
fn joined(mut dimensions: Vec<Dimension>) -> Vec<Dimension> {
    dimensions.sort_by_key(|dimension| std::cmp::Reverse(dimension.output));
    let mut joined: Vec<Dimension> = Vec::new();
    for inner in dimensions {
        let continues = |outer: usize, stride: usize| inner.extent.checked_mul(stride) == Some(outer);
        match joined.last_mut() {
            Some(outer) if continues(outer.output, inner.output) && continues(outer.input, inner.input) => {
                *outer = Dimension { extent: outer.extent * inner.extent, ..inner };
            }
            Some(_) | None => joined.push(inner),
        }
    }
    joined
}

/// The same in the widest words, between what is left over at the ends of rows.
fn widened(words: Words, input: u64, output: u64) -> Vec<Words> {
    let Some((inner, outer)) = words.dimensions.split_last() else { return vec![words] };
    if (inner.input, inner.output) != (1, 1) {
        return vec![words];
    }
    for wide in [Word::Bytes16, Word::Bytes8, Word::Bytes4, Word::Bytes2] {
        if wide <= words.word {
            break;
        }
        let many = wide.bytes() / words.word.bytes();
        let bytes = wide.bytes() as u64;
        let in_step =
            outer.iter().all(|outer| outer.input.is_multiple_of(many) && outer.output.is_multiple_of(many))
                && input % bytes == output % bytes;
        let before = (input.next_multiple_of(bytes) - input) as usize / words.word.bytes();
        if !in_step || before > inner.extent {
            continue;
        }
        let middle = (inner.extent - before) / many;
        let behind = inner.extent - before - middle * many;
        if middle == 0 || (before, behind) != (0, 0) && middle < WORTH_EDGES {
            continue;
        }
        let part = |first: usize, extent: usize, many: usize| {
            let mut dimensions: Vec<Dimension> = outer
                .iter()
                .map(|outer| Dimension { input: outer.input / many, output: outer.output / many, ..*outer })
                .collect();
            if extent > 1 {
                dimensions.push(Dimension { extent, ..*inner });
            }
            let skipped = first * words.word.bytes();
            let word = if many == 1 { words.word } else { wide };
            Words { word, input: skipped, output: skipped, dimensions }
        };
        let mut parts = vec![part(before, middle, many)];
        if before > 0 {
            parts.push(part(0, before, 1));
        }
        if behind > 0 {
            parts.push(part(inner.extent - behind, behind, 1));
        }
        return parts;
    }
    vec![words]
}

/// Planes with fewer rows or columns are turned by the kernel for all.
const LARGE: usize = 64;

/// So many columns of 4 bytes are half a row of a tile.
const HALF: usize = 32;

/// The largest plane that is read as a row of words, in elements.
const MOST_IN_WORDS: usize = 1 << 30;

/// The kernel for words, by the addresses of the first elements too.
fn placed(words: Words, addresses: [u64; 2]) -> Step {
    let step = step(words);
    let (Kernel::Turned, &[ref outer @ .., rows, cols]) = (step.kernel, step.dimensions.as_slice()) else {
        return step;
    };
    let (bytes, at) = (step.word.bytes(), [step.input, step.output]);
    let many = 16 / bytes;
    let aligned = (0..2).all(|side| (addresses[side] + at[side] as u64).is_multiple_of(16));
    let strides = [rows.input, cols.output].into_iter();
    let outer = outer.iter().chain(&step.launches);
    let mut strides = strides.chain(outer.flat_map(|outer| [outer.input, outer.output]));
    let in_vectors = many > 1
        && aligned
        && strides.all(|stride| stride.is_multiple_of(many))
        && rows.extent.is_multiple_of(many)
        && cols.extent.is_multiple_of(many);
    let is_large = rows.extent >= LARGE && cols.extent >= LARGE;
    if in_vectors && is_large {
        return Step { kernel: Kernel::Wide, ..step };
    }
    let beside = step.dimensions[..step.dimensions.len() - 2].iter().position(|outer| outer.input == HALF);
    if let (true, Word::Bytes4, HALF, Some(beside)) = (in_vectors, step.word, cols.extent, beside)
        && rows.extent >= LARGE
    {
        let mut step = Step { kernel: Kernel::WidePairs, ..step };
        let planes = step.dimensions.remove(beside);
        step.dimensions.insert(step.dimensions.len() - 2, planes);
        return step;
    }
    let in_words = match step.word {
        Word::Bytes1 | Word::Bytes2 => {
            let span = rows.extent.checked_mul(rows.input.max(cols.extent));
            addresses[0].is_multiple_of(4 * bytes as u64)
                && span.is_some_and(|span| span <= MOST_IN_WORDS)
                && cols.extent <= MOST_IN_WORDS
        }
        Word::Bytes4 | Word::Bytes8 => true,
        Word::Bytes16 => false,
    };
    if is_large && in_words { in_windows(step) } else { step }
}

/// A transpose whose rows are written from boundaries of their own.
fn in_windows(step: Step) -> Step {
    let taken = match step.word {
        Word::Bytes1 | Word::Bytes2 => 2,
        Word::Bytes4 | Word::Bytes8 | Word::Bytes16 => 3,
    };
    let mut step = Step { kernel: Kernel::Skewed, ..step };
    let outer = step.dimensions.len().saturating_sub(taken);
    step.launches.extend(step.dimensions.drain(..outer));
    step
}

/// The kernel for words, and its dimensions in the kernel's order.
fn step(words: Words) -> Step {
    let Words { word, input, output, mut dimensions } = words;
    let Some(inner) = dimensions.pop() else {
        let one = Dimension { extent: 1, input: 1, output: 1 };
        let (dimensions, launches) = (vec![one], Vec::new());
        return Step { kernel: Kernel::Linear, word, input, output, dimensions, launches };
    };
    let across = dimensions.iter().rposition(|dimension| dimension.input == 1);
    let (kernel, inner) = match (inner.input, inner.output, across) {
        (1, 1, _) if dimensions.is_empty() => (Kernel::Linear, vec![inner]),
        (1, 1, _) if inner.extent <= SHORT && word >= Word::Bytes4 => (Kernel::ShortRows, vec![inner]),
        (1, 1, _) => (Kernel::Rows, vec![inner]),
        (_, 1, Some(across)) => {
            let across = dimensions.remove(across);
            let record = |fields: usize, apart: usize| match fields == apart && dimensions.len() < 2 {
                true => Record::of(word, fields),
                false => None,
            };
            let records = record(across.extent, inner.input).map(Kernel::FieldsOfRecords);
            let records =
                records.or_else(|| record(inner.extent, across.output).map(Kernel::RecordsOfFields));
            let kernel = match records {
                Some(kernel) => kernel,
                None => match (inner.extent <= SHORT, across.extent <= SHORT) {
                    (true, true) if !dimensions.is_empty() => Kernel::TurnedSmall,
                    (_, true) => Kernel::TurnedTall,
                    (true, false) => Kernel::TurnedWide,
                    (false, false) => Kernel::Turned,
                },
            };
            (kernel, vec![inner, across])
        }
        _ => {
            dimensions.push(inner);
            // Neighbouring threads are neighbours in the output, unless few are.
            let inner = match dimensions.iter().rposition(|dimension| dimension.extent >= WARP) {
                Some(place) => dimensions.remove(place),
                None => dimensions.remove(dimensions.len() - 1),
            };
            (Kernel::Strided, vec![inner])
        }
    };
    let most = match kernel {
        Kernel::Strided => RANK - 1 - inner.len(),
        Kernel::FieldsOfRecords(_) | Kernel::RecordsOfFields(_) => 1,
        Kernel::ShortRows => 3,
        Kernel::Linear
        | Kernel::Rows
        | Kernel::Turned
        | Kernel::Wide
        | Kernel::WidePairs
        | Kernel::Skewed
        | Kernel::TurnedTall
        | Kernel::TurnedWide
        | Kernel::TurnedSmall => RANK - inner.len(),
    };
    let mut launches = Vec::new();
    while dimensions.len() > most {
        // The first of the smallest: each index costs a launch.
        let fewest = (0..dimensions.len()).min_by_key(|place| dimensions[*place].extent).unwrap_or(0);
        launches.push(dimensions.remove(fewest));
    }
    dimensions.extend(inner);
    Step { kernel, word, input, output, dimensions, launches }
}

impl Kernel {
    /// All of them.
    pub(super) fn all() -> Vec<Kernel> {
        let mut all = vec![
            Kernel::Linear,
            Kernel::Rows,
            Kernel::ShortRows,
            Kernel::Turned,
            Kernel::Wide,
            Kernel::WidePairs,
            Kernel::Skewed,
            Kernel::TurnedTall,
            Kernel::TurnedWide,
            Kernel::TurnedSmall,
            Kernel::Strided,
        ];
        for fields in [Fields::Two, Fields::Three, Fields::Four] {
            for record in [Record::Bytes1, Record::Bytes2, Record::Bytes4, Record::Bytes8] {
                all.extend([
                    Kernel::FieldsOfRecords(record(fields)),
                    Kernel::RecordsOfFields(record(fields)),
                ]);
            }
        }
        all
    }
}

impl Record {
    fn of(word: Word, fields: usize) -> Option<Record> {
        let fields = match fields {
            2 => Fields::Two,
            3 => Fields::Three,
            4 => Fields::Four,
            _ => return None,
        };
        match word {
            Word::Bytes1 => Some(Record::Bytes1(fields)),
            Word::Bytes2 => Some(Record::Bytes2(fields)),
            Word::Bytes4 => Some(Record::Bytes4(fields)),
            Word::Bytes8 => Some(Record::Bytes8(fields)),
            Word::Bytes16 => None,
        }
    }
}

impl Word {
    pub(super) const ALL: [Word; 5] = [Word::Bytes1, Word::Bytes2, Word::Bytes4, Word::Bytes8, Word::Bytes16];

    pub(super) fn of(element: ScalarType) -> Word {
        match element {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => Word::Bytes1,
            ScalarType::I16 | ScalarType::U16 | ScalarType::F16 | ScalarType::Bf16 => Word::Bytes2,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => Word::Bytes4,
            ScalarType::I64 | ScalarType::U64 | ScalarType::Usize | ScalarType::Isize | ScalarType::F64 => {
                Word::Bytes8
            }
        }
    }

    /// Its size, in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Word::Bytes1 => 1,
            Word::Bytes2 => 2,
            Word::Bytes4 => 4,
            Word::Bytes8 => 8,
            Word::Bytes16 => 16,
        }
    }
}

impl Step {
    /// The name of the kernel that is launched.
    pub fn kernel_name(&self) -> &'static str {
        kernel::description(self.kernel, self.word).name
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |part: fn(&Dimension) -> usize| self.dimensions.iter().map(part).collect::<Vec<_>>();
        let launches: usize = self.launches.iter().map(|dimension| dimension.extent).product();
        write!(
            f,
            "{}: {:?} words of {} bytes, from strides {:?} at byte {} to {:?} at byte {}",
            self.kernel_name(),
            of(|dimension| dimension.extent),
            self.word.bytes(),
            of(|dimension| dimension.input),
            self.input,
            of(|dimension| dimension.output),
            self.output,
        )?;
        if launches > 1 { write!(f, ", {launches} launches") } else { Ok(()) }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("nothing to copy");
        }
        for (number, step) in self.steps.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{step}")?;
        }
        Ok(())
    }
}
