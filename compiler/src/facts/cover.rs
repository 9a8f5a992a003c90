//! Does a kernel write every element of a tensor.
//!
//! Take any element. Each of its indices is split into digits, as a number is in a mixed radix: the innermost digit is
//! what the threads of a block, the iterations that are executed one by one, and the lanes of a vector add up to; the others
//! are the positions of the block and the counters of loops. So the element names a block, an iteration of each loop, and
//! an offset. The kernel writes it if
//!
//! - the offsets at which threads store leave no gap between 0 and the next digit;
//! - the grid has that block. This is shown of a position of which nothing is known but that it is not negative;
//! - each thread that stores at the offset comes to the store: every condition around it follows from what is known before
//!   it, and from the index being inside the tensor.
//!
//! Where a condition does not follow, but is the same for the whole block, stores on either of its sides may serve
//! together: each side is shown under what holds there.

use super::conditions::{Condition, ConditionKind};
use super::eval::EXTENT_LIMIT;
use super::lanes::Lanes;
use super::linear::{Linear, SymbolId};
use super::prove::{FactList, non_negative, tighten};
use super::symbol::{Symbol, SymbolKind, Symbols};
use super::unwritten::Branch;
use super::{Mask, Run, Visit};
use crate::ir::{Axis, Base, Block, Handle, Kernel, Param, Scope, Site, Stmt};
use crate::span::SpanId;
use std::rc::Rc;

/// How many branches on the way to stores are taken apart at most.
const MOST_BRANCHES: usize = 6;
/// How many elements one position of the block may be responsible for, to be looked at one by one.
const MOST_ELEMENTS: i64 = 1 << 22;
/// How many stores are looked at.
const MOST_STORES: usize = 4096;

/// Why it is not known that every element is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nothing stores to the tensor.
    NoStore,
    /// There are too many stores.
    Work,
    /// An index is not a sum of multiples of the block's position and of counters of loops.
    Index {
        /// The store.
        site: Handle<Site>,
        /// The dimension.
        dimension: usize,
    },
    /// An offset of the elements that one position of block and loops is responsible for, which no store writes.
    Offset {
        /// One of the stores.
        site: Handle<Site>,
        /// The offset, one number a dimension.
        offset: Vec<i64>,
        /// How many elements there are, in each dimension.
        extents: Vec<i64>,
    },
    /// Only so many indices of a dimension are written, and nothing says that it has no more.
    Extent {
        /// The dimension.
        dimension: usize,
        /// The number.
        reach: i64,
    },
    /// A condition does not follow from the element being one of the tensor.
    Condition {
        /// The store.
        site: Handle<Site>,
        /// The condition, or the head of a loop.
        span: SpanId,
        /// Whether the proof knows when it holds.
        understood: bool,
    },
    /// The grid may be empty although the tensor is not.
    Empty {
        /// Along which axis.
        axis: Axis,
    },
    /// The grid may end before the tensor does.
    Grid {
        /// Along which axis.
        axis: Axis,
        /// In which dimension of the tensor.
        dimension: usize,
        /// How many indices of it each position of the block is responsible for.
        stride: i64,
    },
}

/// A position that an index is a multiple of.
#[derive(Clone, Debug, PartialEq)]
struct Digit {
    symbol: SymbolId,
    factor: Linear,
}

/// A store, at offsets from multiples of its digits.
#[derive(Clone, Copy)]
struct Piece<'a> {
    visit: &'a Visit,
    width: i64,
}

/// Stores whose indices have the same digits.
struct Family<'a> {
    digits: Vec<Vec<Digit>>,
    /// Those that do the same store on different ways are together.
    stores: Vec<Vec<Piece<'a>>>,
}

/// What the proof is about.
struct Tensor<'a> {
    run: &'a Run,
    symbols: Symbols,
    extents: Vec<Linear>,
    threads: usize,
}

/// Whether every element of the tensor is written whenever the contract holds, as far as one run tells.
pub fn covered(kernel: &Kernel, run: &Run, param: Handle<Param>) -> Result<(), Gap> {
    let mut stores = Vec::new();
    stores_to(kernel, &kernel.body, param, &mut stores);
    let visits: Vec<&Visit> = run.visits.iter().filter(|visit| stores.contains(&visit.site)).collect();
    if visits.len() > MOST_STORES {
        return Err(Gap::Work);
    }
    let mut symbols = run.symbols.clone();
    let extent = |dimension: usize| {
        let kind = SymbolKind::Extent(param, dimension as u32);
        let id = symbols.find(&kind).unwrap_or_else(|| {
            let range = (0, EXTENT_LIMIT - 1);
            symbols.add(Symbol::new(kind, range, Scope::Block, "an extent"))
        });
        symbols.resolved(id)
    };
    let extents = (0..kernel.rank(Base::Tensor(param))).map(extent).collect();
    let tensor = Tensor { run, symbols, extents, threads: kernel.threads() as usize };
    let (mut families, mut gap): (Vec<Family<'_>>, Gap) = (Vec::new(), Gap::NoStore);
    for visit in visits {
        match tensor.digits(visit) {
            Ok(digits) => {
                let width = i64::from(kernel.sites[visit.site].place.width);
                let piece = Piece { visit, width };
                let family = match families.iter().position(|family| family.digits == digits) {
                    Some(at) => &mut families[at],
                    None => {
                        families.push(Family { digits, stores: Vec::new() });
                        let last = families.len() - 1;
                        &mut families[last]
                    }
                };
                match family.stores.iter_mut().find(|store| is_same(&store[0], &piece)) {
                    Some(store) => store.push(piece),
                    None => family.stores.push(vec![piece]),
                }
            }
            Err(dimension) => gap = Gap::Index { site: visit.site, dimension },
        }
    }
    for family in families {
        match tensor.covers(&family) {
            Ok(()) => return Ok(()),
            Err(new) => gap = new,
        }
    }
    Err(gap)
}

/// The sites of the stores to a tensor.
fn stores_to(kernel: &Kernel, block: &Block, param: Handle<Param>, out: &mut Vec<Handle<Site>>) {
    for stmt in block {
        if let Stmt::Store { site, .. } = stmt
            && kernel.sites[*site].place.base == Base::Tensor(param)
        {
            out.push(*site);
        }
        for inner in stmt.blocks(kernel) {
            stores_to(kernel, inner, param, out);
        }
    }
}

/// Whether two stores are of one element, by the same threads if they come there.
fn is_same(a: &Piece<'_>, b: &Piece<'_>) -> bool {
    (&a.visit.index, &a.visit.mask, a.width) == (&b.visit.index, &b.visit.mask, b.width)
}

fn side_of(condition: &Condition) -> Option<(Branch, bool)> {
    match condition.kind {
        ConditionKind::Side { branch, side, .. } => Some((branch, side)),
        ConditionKind::Iteration | ConditionKind::Unknown => None,
    }
}

fn negative(form: &Linear) -> Option<Linear> {
    form.scale(&Lanes::Uniform(-1))
}

impl Tensor<'_> {
    /// The digits of each index of a store, innermost first; the dimension of one that has none.
    fn digits(&self, visit: &Visit) -> Result<Vec<Vec<Digit>>, usize> {
        let mut all: Vec<SymbolId> = Vec::new();
        let mut out = Vec::new();
        for (dimension, index) in visit.index.iter().enumerate() {
            let digits = self.digits_of(index).ok_or(dimension)?;
            let mut symbols = digits.iter().map(|digit| digit.symbol);
            if symbols.any(|symbol| all.contains(&symbol)) {
                return Err(dimension);
            }
            all.extend(digits.iter().map(|digit| digit.symbol));
            out.push(digits);
        }
        Ok(out)
    }

    fn digits_of(&self, index: &Linear) -> Option<Vec<Digit>> {
        let is_position = |id: SymbolId| {
            matches!(self.symbols.get(id).kind, SymbolKind::Block(_) | SymbolKind::Counter(..))
        };
        let mut digits: Vec<Digit> = Vec::new();
        for (id, coefficient) in &index.terms {
            let coefficient = Lanes::Uniform(coefficient.uniform()?);
            let (symbol, other) = match self.symbols.get(*id).kind {
                SymbolKind::Product(a, b) if is_position(a) => (a, Linear::symbol(b)),
                SymbolKind::Product(a, b) if is_position(b) => (b, Linear::symbol(a)),
                SymbolKind::Block(_) | SymbolKind::Counter(..) => (*id, Linear::int(1)),
                SymbolKind::Product(..)
                | SymbolKind::Extent(..)
                | SymbolKind::Stride(..)
                | SymbolKind::Misalignment(..)
                | SymbolKind::Scalar(_)
                | SymbolKind::Grid(_)
                | SymbolKind::Round(..)
                | SymbolKind::Later(..)
                | SymbolKind::Derived(_)
                | SymbolKind::Opaque(_) => return None,
            };
            if !self.symbols.is_of_launch(&other) {
                return None;
            }
            match digits.iter_mut().find(|digit| digit.symbol == symbol) {
                Some(digit) => digit.factor = digit.factor.add_scaled(&other, &coefficient)?,
                None => digits.push(Digit { symbol, factor: other.scale(&coefficient)? }),
            }
        }
        // Those by a number come first; more than one that is not by a number is not understood later.
        digits.sort_by_key(|digit| digit.factor.known_uniform().unwrap_or(i64::MAX));
        Some(digits)
    }

    fn covers(&self, family: &Family<'_>) -> Result<(), Gap> {
        let site = family.stores.iter().flatten().map(|piece| piece.visit.site).next().ok_or(Gap::NoStore)?;
        let mut windows = Vec::new();
        for (dimension, digits) in family.digits.iter().enumerate() {
            let window = match digits.first() {
                Some(digit) => digit.factor.known_uniform().filter(|factor| *factor > 0),
                None => self.reach(family, dimension),
            };
            windows.push(window.ok_or(Gap::Index { site, dimension })?);
        }
        self.grid(family, site)?;
        for (dimension, digits) in family.digits.iter().enumerate() {
            let room = negative(&self.extents[dimension]).and_then(|form| form.offset(windows[dimension]));
            if digits.is_empty() && !room.is_some_and(|room| self.of_launch(&room, self.run.grid.first())) {
                return Err(Gap::Extent { dimension, reach: windows[dimension] });
            }
        }
        self.stores(family, &windows, site, &mut Vec::new())
    }

    /// One more than the largest offset in a dimension.
    fn reach(&self, family: &Family<'_>, dimension: usize) -> Option<i64> {
        let reaches = family.stores.iter().flatten().filter_map(|piece| {
            let width = if dimension + 1 == self.extents.len() { piece.width } else { 1 };
            piece.visit.index[dimension].constant.max(&piece.visit.mask)?.checked_add(width)
        });
        reaches.max().filter(|reach| *reach > 0)
    }

    /// Whether a form is not negative, by what the contract says and that the tensor has an element.
    fn of_launch(&self, goal: &Linear, known: Option<&super::GridExtent>) -> bool {
        let Some(known) = known else { return false };
        let facts = self.with_element(&known.known);
        non_negative(goal, &facts, &Mask::Uniform(true), &self.symbols)
    }

    fn with_element(&self, known: &FactList) -> FactList {
        let some = self.extents.iter().filter_map(|extent| extent.offset(-1)).map(tighten).map(Rc::new);
        some.chain(known.iter().cloned()).collect()
    }

    /// That the grid has the block that an element names. What is known along an axis builds on those before it.
    fn grid(&self, family: &Family<'_>, site: Handle<Site>) -> Result<(), Gap> {
        for (axis, grid) in [Axis::X, Axis::Y, Axis::Z].into_iter().zip(&self.run.grid) {
            let is_axis = |digit: &Digit| self.symbols.get(digit.symbol).kind == SymbolKind::Block(axis);
            let outermost = |digits: &Vec<Digit>| digits.last().filter(|digit| is_axis(digit)).cloned();
            let named = family.digits.iter().map(outermost).position(|digit| digit.is_some());
            let Some(dimension) = named else {
                if !grid.extent.offset(-1).is_some_and(|goal| self.of_launch(&goal, Some(grid))) {
                    return Err(Gap::Empty { axis });
                }
                continue;
            };
            let stride = family.digits[dimension].last().and_then(|digit| digit.factor.known_uniform());
            let stride = stride.ok_or(Gap::Index { site, dimension })?;
            if !self.has_block(grid, dimension, stride) {
                return Err(Gap::Grid { axis, dimension, stride });
            }
        }
        for (dimension, digits) in family.digits.iter().enumerate() {
            for (digit, next) in digits.iter().zip(digits.iter().skip(1)) {
                if !self.reaches(digit, next) {
                    return Err(Gap::Index { site, dimension });
                }
            }
        }
        Ok(())
    }

    /// Whether a digit takes all values up to the one above it, or more.
    fn reaches(&self, digit: &Digit, next: &Digit) -> bool {
        let SymbolKind::Block(axis) = self.symbols.get(digit.symbol).kind else { return false };
        let Some(grid) = self.run.grid.get(axis.index()) else { return false };
        let most = self.symbols.product(&digit.factor, &grid.extent);
        let room = most.and_then(|most| most.sub(&next.factor));
        [room, next.factor.offset(-1)]
            .into_iter()
            .all(|goal| goal.is_some_and(|goal| self.of_launch(&goal, Some(grid))))
    }

    /// Whether the grid ends behind the position that any index of a dimension names.
    fn has_block(&self, grid: &super::GridExtent, dimension: usize, stride: i64) -> bool {
        let mut symbols = self.symbols.clone();
        let kind = SymbolKind::Derived(symbols.len() as u32);
        // Nothing is known of the position but that the element is inside.
        let position = symbols.add(Symbol::new(kind, (0, EXTENT_LIMIT), Scope::Block, "a position"));
        let position = Linear::symbol(position);
        let inside = self.extents[dimension]
            .add_scaled(&position, &Lanes::Uniform(-stride))
            .and_then(|room| room.offset(-1));
        let goal = grid.extent.sub(&position).and_then(|room| room.offset(-1));
        let (Some(inside), Some(goal)) = (inside, goal) else { return false };
        let mut facts = self.with_element(&grid.known);
        facts.insert(0, Rc::new(tighten(inside)));
        non_negative(&goal, &facts, &Mask::Uniform(true), &symbols)
    }

    /// That stores leave no gap, whichever side of the decided branches the block takes.
    fn stores(
        &self,
        family: &Family<'_>,
        windows: &[i64],
        site: Handle<Site>,
        decided: &mut Vec<(Branch, bool)>,
    ) -> Result<(), Gap> {
        let (mut certain, mut gap, mut open) = (Vec::new(), None, None);
        for store in &family.stores {
            match self.happens(family, store, decided) {
                Ok(()) => certain.extend(store.first().copied()),
                Err(None) => {}
                Err(Some((site, condition))) => {
                    let understood = match condition.kind {
                        ConditionKind::Side { branch, exact, uniform, .. } => {
                            open = open.or(uniform.then_some(branch));
                            exact
                        }
                        ConditionKind::Iteration => true,
                        ConditionKind::Unknown => false,
                    };
                    gap = gap.or(Some(Gap::Condition { site, span: condition.span, understood }));
                }
            }
        }
        if certain.is_empty() && gap.is_none() {
            return Err(Gap::NoStore);
        }
        let Some(offset) = self.first_gap(&certain, windows)? else { return Ok(()) };
        if let Some(branch) = open.filter(|_| decided.len() < MOST_BRANCHES) {
            for side in [true, false] {
                decided.push((branch, side));
                let answer = self.stores(family, windows, site, decided);
                decided.pop();
                match answer {
                    Ok(()) => {}
                    // Nothing on that side: what is missing is the other one.
                    Err(Gap::NoStore) => return Err(gap.unwrap_or(Gap::NoStore)),
                    Err(other) => return Err(other),
                }
            }
            return Ok(());
        }
        Err(gap.unwrap_or(Gap::Offset { site, offset, extents: windows.to_vec() }))
    }

    /// Whether a thread does a store on one way or another. If not: the first condition that does not follow, or nothing
    /// where all ways are behind the other sides of what is decided.
    fn happens<'p>(
        &self,
        family: &Family<'_>,
        store: &[Piece<'p>],
        decided: &mut Vec<(Branch, bool)>,
    ) -> Result<(), Option<(Handle<Site>, &'p Condition)>> {
        let mut open = None;
        for piece in store {
            let mut sides = piece.visit.conditions.iter().filter_map(|condition| side_of(condition));
            if sides.any(|(branch, side)| decided.contains(&(branch, !side))) {
                continue;
            }
            match self.open_condition(family, *piece, decided) {
                None => return Ok(()),
                Some(condition) => open = open.or(Some((piece.visit.site, condition))),
            }
        }
        let branch = open.and_then(|(_, condition)| side_of(condition)).map(|(branch, _)| branch);
        let branch = branch.filter(|_| store.len() > 1 && decided.len() < MOST_BRANCHES).ok_or(open)?;
        for side in [true, false] {
            decided.push((branch, side));
            let answer = self.happens(family, store, decided);
            decided.pop();
            answer.map_err(|_| open)?;
        }
        Ok(())
    }

    /// The first condition around a store that does not follow.
    fn open_condition<'p>(
        &self,
        family: &Family<'_>,
        piece: Piece<'p>,
        decided: &[(Branch, bool)],
    ) -> Option<&'p Condition> {
        let mut facts: FactList = Vec::new();
        let last = self.extents.len() - 1;
        for (dimension, (index, extent)) in piece.visit.index.iter().zip(&self.extents).enumerate() {
            let width = if dimension == last { piece.width } else { 1 };
            let inside = [extent.sub(index).and_then(|room| room.offset(-1)), index.offset(width - 1)];
            facts.extend(inside.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
        }
        // An element names no position along an axis that no index depends on: it is the first one.
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            let block = self.symbols.find(&SymbolKind::Block(axis));
            let free = block.filter(|id| !family.digits.iter().flatten().any(|digit| digit.symbol == *id));
            facts.extend(free.and_then(|id| negative(&Linear::symbol(id))).map(Rc::new));
        }
        for condition in piece.visit.conditions.iter() {
            let is_decided = side_of(condition).is_some_and(|side| decided.contains(&side));
            let exact = match condition.kind {
                ConditionKind::Side { exact, .. } => exact,
                ConditionKind::Iteration => true,
                ConditionKind::Unknown => false,
            };
            let known: FactList = facts.iter().chain(&condition.known).cloned().collect();
            let follows = |goal: &Rc<Linear>| non_negative(goal, &known, &piece.visit.mask, &self.symbols);
            let holds = is_decided || exact && condition.holds.iter().all(follows);
            if !holds {
                return Some(condition);
            }
            facts.extend(condition.holds.iter().cloned());
        }
        None
    }

    /// The first offset that none of these stores writes.
    fn first_gap(&self, pieces: &[Piece<'_>], windows: &[i64]) -> Result<Option<Vec<i64>>, Gap> {
        let elements = windows.iter().try_fold(1i64, |product, extent| product.checked_mul(*extent));
        let elements = elements.filter(|elements| *elements <= MOST_ELEMENTS).ok_or(Gap::Work)?;
        let mut written = vec![false; elements as usize];
        let last = windows.len() - 1;
        for piece in pieces {
            for thread in (0..self.threads).filter(|thread| piece.visit.mask.get(*thread)) {
                let offset = |dimension: usize| piece.visit.index[dimension].constant.get(thread);
                let row = (0..last).try_fold(0i64, |number, dimension| {
                    let inside = (0..windows[dimension]).contains(&offset(dimension));
                    inside.then(|| number * windows[dimension] + offset(dimension))
                });
                let Some(row) = row else { continue };
                for column in offset(last)..offset(last).saturating_add(piece.width) {
                    if (0..windows[last]).contains(&column) {
                        written[(row * windows[last] + column) as usize] = true;
                    }
                }
            }
        }
        Ok(written.iter().position(|written| !written).map(|number| {
            let mut rest = number as i64;
            let mut offset: Vec<i64> = Vec::new();
            for extent in windows.iter().rev() {
                offset.push(rest % extent);
                rest /= extent;
            }
            offset.reverse();
            offset
        }))
    }
}
