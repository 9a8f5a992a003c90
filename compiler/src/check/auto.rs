//! The layouts that the source leaves to the compiler.
//!
//! A tile of type `Shared<…, Auto>` gets the layout with the fewest excess wavefronts over all its accesses; of
//! these the one whose worst instruction has the fewest, then the one with the fewest bytes, then the first in the order
//! of [`candidates`]. Budgets play no part: what is left needs one as under any layout. Tiles are decided one after
//! another, and no tile's accesses look at another's layout.
//!
//! The search stops at the first candidate that no later one can beat: one without excess, or one that reaches
//! [`lower_bound`], which holds for every layout whatever.
//!
//! The facts were computed under a placeholder. They hold for every layout, but may lack the residues of a symbol that a
//! swizzle looks at; where that hides a candidate and something is left to gain, the analysis is repeated under the
//! candidate.

use super::banks::{Known, taken, warp_access};
use super::words::{count, grouped};
use super::{Visits, alignment, fix, visits_of};
use crate::diagnostic::Diagnostics;
use crate::facts::{self, Facts, Obstacle, Run, Visit, tile_offsets};
use crate::ir::{Choice, Handle, Kernel, Layout, Site, Tile};
use tileproof_model::access::LANES;

/// The layout of one tile was chosen.
#[derive(Debug)]
pub(super) struct Chosen {
    tile: Handle<Tile>,
    /// What it achieves, and whether another could do better.
    pub(super) reason: String,
}

/// What was chosen for a tile, if anything was.
pub(super) fn of(chosen: &[Chosen], tile: Handle<Tile>) -> Option<&Chosen> {
    chosen.iter().find(|chosen| chosen.tile == tile)
}

/// Puts the best layout into each tile that leaves it open.
pub(super) fn choose(
    kernel: &mut Kernel,
    mut facts: Facts,
    diagnostics: &Diagnostics,
) -> (Facts, Vec<Chosen>) {
    let mut chosen = Vec::new();
    for tile in kernel.tiles.handles() {
        match kernel.tiles[tile].choice {
            Choice::Written => continue,
            Choice::Auto => {}
        }
        let mut found = search(kernel, &facts, tile);
        if let Some(hidden) = found.hidden
            && found.score.is_none_or(|score| score.excess > found.bound.excess)
        {
            let before = std::mem::replace(&mut kernel.tiles[tile].layout, hidden);
            let finer = facts::analyse(kernel);
            kernel.tiles[tile].layout = before;
            let again = search(kernel, &finer, tile);
            if again.score.is_some() && (found.score.is_none() || again.score < found.score) {
                (facts, found) = (finer, again);
            }
        }
        kernel.tiles[tile].layout = found.layout;
        let reason = found.reason(kernel, diagnostics);
        chosen.push(Chosen { tile, reason });
    }
    (facts, chosen)
}

/// What a layout costs; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Excess wavefronts of all accesses.
    excess: u64,
    /// The largest excess of one warp instruction.
    worst: u32,
    bytes: u32,
}

/// What the search found.
struct Found {
    layout: Layout,
    /// `None` if no layout's cost is known.
    score: Option<Score>,
    bound: Bound,
    /// How many layouts were judged.
    tried: u32,
    /// A layout whose cost depends on a residue that the facts lack.
    hidden: Option<Layout>,
    /// Whether the cost of an access is unknown under every layout.
    blind: bool,
}

/// The accesses to a tile whose cost a layout can change, the most expensive first.
type Accesses<'a> = Vec<(Handle<Site>, Visits<'a>)>;

fn search(kernel: &Kernel, facts: &Facts, tile: Handle<Tile>) -> Found {
    let shape = &kernel.tiles[tile];
    let all = fix::sites_of(kernel, tile).into_iter().map(|site| (site, visits_of(facts, site)));
    let (mut accesses, blind): (Accesses<'_>, Accesses<'_>) = all.partition(|(_, visits)| {
        visits.iter().all(|(run, visit)| {
            !matches!(
                tile_offsets(shape, Layout::RowMajor, visit, &run.symbols),
                Err(Obstacle::Varying(_) | Obstacle::Overflow)
            )
        })
    });
    let bound = lower_bound(kernel, tile, &accesses);
    let mut found = Found {
        layout: Layout::RowMajor,
        score: None,
        bound,
        tried: 0,
        hidden: None,
        blind: !blind.is_empty(),
    };
    let widest = accesses.iter().chain(&blind).map(|(site, _)| kernel.sites[*site].place.width).max();
    let mut aligned: Option<(u32, bool)> = None;
    for layout in candidates(shape, widest.unwrap_or(1)) {
        let Some(bytes) = fix::bytes_if_fits(kernel, tile, layout) else { continue };
        if found.score.is_some_and(|best| best.excess == found.bound.excess && best.bytes <= bytes) {
            break;
        }
        // Whether accesses are aligned depends on nothing but the pitch once pieces stay together.
        let pitch = layout.pitch(shape.extents.last().copied().unwrap_or(1));
        let fits = match aligned {
            Some((known, fits)) if known == pitch => fits,
            Some(_) | None => is_aligned(kernel, tile, layout, accesses.iter().chain(&blind)),
        };
        aligned = Some((pitch, fits));
        if !fits {
            continue;
        }
        found.tried += 1;
        match score(kernel, tile, layout, bytes, &accesses, found.score) {
            Ok(Some((score, by_access))) => {
                if found.score.is_none_or(|best| score < best) {
                    (found.layout, found.score) = (layout, Some(score));
                }
                if layout == Layout::RowMajor {
                    // A worse layout is found out the sooner.
                    let mut order: Vec<usize> = (0..accesses.len()).collect();
                    order.sort_by_key(|place| std::cmp::Reverse(by_access[*place]));
                    accesses = order.into_iter().map(|place| accesses[place].clone()).collect();
                }
            }
            Ok(None) => {}
            Err(Obstacle::Residue(..)) => {
                found.tried -= 1;
                found.hidden = found.hidden.or(Some(layout));
            }
            Err(Obstacle::Varying(_) | Obstacle::Overflow) => found.tried -= 1,
        }
    }
    found
}

/// All layouts worth judging: those without padding first, simple before general, then by bytes.
fn candidates(tile: &Tile, widest: u32) -> impl Iterator<Item = Layout> + use<'_> {
    let row = tile.extents.last().copied().unwrap_or(1);
    let elements: u32 = tile.extents.iter().product();
    let rows = elements / row.max(1);
    // A chunk smaller than a vector would take it apart.
    let xors =
        (0..16).map(|log| 1u32 << log).filter(move |chunk| *chunk < row && chunk.is_multiple_of(widest));
    let element = tile.element.bytes().max(1);
    // The bits of an element's number that name its bank end here; a change of higher ones moves no element to
    // another bank, and bits beyond the tile are 0.
    let (banks, top) = ((128 / element).max(1).ilog2(), elements.next_power_of_two().ilog2());
    let swizzles =
        (0..banks).filter(move |base| (1u32 << base).is_multiple_of(widest)).flat_map(move |base| {
            (1..=banks - base).flat_map(move |bits| {
                let last = top.saturating_sub(base + bits);
                (bits..=last).map(move |shift| Layout::Swizzle { bits, base, shift: shift as i32 })
            })
        });
    let xors = xors.filter(move |_| rows > 1).map(Layout::Xor);
    let pads = (1..=fix::MOST_PADDING).map(Layout::Pad).filter(move |_| rows > 1);
    std::iter::once(Layout::RowMajor)
        .chain(xors)
        .chain(swizzles)
        .chain(pads)
        .filter(|layout| layout.defect(&tile.extents).is_none())
}

fn is_aligned<'a>(
    kernel: &Kernel,
    tile: Handle<Tile>,
    layout: Layout,
    mut accesses: impl Iterator<Item = &'a (Handle<Site>, Visits<'a>)>,
) -> bool {
    accesses.all(|(site, visits)| {
        let width = kernel.sites[*site].place.width;
        width == 1
            || visits.iter().all(|(run, visit)| {
                alignment::tile_access_aligned(&kernel.tiles[tile], layout, width, visit, &run.symbols)
            })
    })
}

/// What a layout costs, in all and by access; `None` as soon as it is no better than `best`.
fn score(
    kernel: &Kernel,
    tile: Handle<Tile>,
    layout: Layout,
    bytes: u32,
    accesses: &Accesses<'_>,
    best: Option<Score>,
) -> Result<Option<(Score, Vec<u64>)>, Obstacle> {
    let mut score = Score { excess: 0, worst: 0, bytes };
    let mut by_access = Vec::with_capacity(accesses.len());
    for (handle, visits) in accesses {
        let site = &kernel.sites[*handle];
        let before = score.excess;
        let mut known = Known::new();
        for (run, visit) in visits {
            let offsets = tile_offsets(&kernel.tiles[tile], layout, visit, &run.symbols)?;
            for warp in 0..kernel.threads().div_ceil(LANES as u32) as usize {
                let mut accesses =
                    offsets.cases.iter().filter_map(|case| warp_access(kernel, site, visit, case, warp));
                let Some(access) = accesses.next() else { continue };
                let excess = taken(site, visit, &access, &mut known).excess();
                if let Some(decides) = &offsets.decides
                    && accesses.any(|access| taken(site, visit, &access, &mut known).excess() != excess)
                {
                    return Err(decides.clone());
                }
                score.excess += u64::from(excess);
                score.worst = score.worst.max(excess);
            }
            if best.is_some_and(|best| score >= best) {
                return Ok(None);
            }
        }
        by_access.push(score.excess - before);
    }
    Ok(Some((score, by_access)))
}

/// What no layout can do better than, and the access that shows it best.
struct Bound {
    /// Excess wavefronts of all accesses.
    excess: u64,
    worst: Option<Crowd>,
}

/// Elements that one warp instruction needs and that no layout can spread over more banks.
struct Crowd {
    site: Handle<Site>,
    warp: usize,
    /// How many words.
    words: u32,
    /// In how many banks.
    banks: u32,
    /// Bytes of the widest vector, whose elements stay side by side.
    vector_bytes: u32,
}

/// A vector of 8 or 16 bytes starts at a multiple of its size, so an element's place in its vector decides which 16 or 8
/// of the 32 banks it can be in. Different vectors are different words: of those at one place, the fullest bank holds at
/// least the share that an even spread would give it.
fn lower_bound(kernel: &Kernel, tile: Handle<Tile>, accesses: &Accesses<'_>) -> Bound {
    let shape = &kernel.tiles[tile];
    let (row, element) = (shape.extents.last().copied().unwrap_or(1), shape.element.bytes());
    let width = accesses.iter().map(|(site, _)| kernel.sites[*site].place.width).max().unwrap_or(1);
    let words_of_vector = width * element / 4;
    let mut bound = Bound { excess: 0, worst: None };
    if words_of_vector < 2 || !row.is_multiple_of(width) {
        return bound;
    }
    let banks = LANES as u32 / words_of_vector;
    let mut most = 1;
    for (handle, visits) in accesses {
        let site = &kernel.sites[*handle];
        // Wider accesses are served in groups of lanes.
        if kernel.lane_bytes(site) > 4 {
            continue;
        }
        for (run, visit) in visits {
            let Some(places) = vector_places(shape, width, run, visit) else { continue };
            for warp in 0..kernel.threads().div_ceil(LANES as u32) as usize {
                let Some(access) = warp_access(kernel, site, visit, &places, warp) else { continue };
                let words = crowd(&access.offsets, access.active, width * element);
                let wavefronts = words.div_ceil(banks);
                bound.excess += u64::from(wavefronts.max(1) - 1);
                if wavefronts > most {
                    most = wavefronts;
                    let vector_bytes = width * element;
                    bound.worst = Some(Crowd { site: *handle, warp, words, banks, vector_bytes });
                }
            }
        }
    }
    bound
}

/// The row-major places of an access, if what is unknown about them moves them by whole vectors.
fn vector_places(tile: &Tile, width: u32, run: &Run, visit: &Visit) -> Option<Vec<u32>> {
    let column = run.symbols.interior(visit.index.last()?)?;
    let whole = |value: i64| Some(value % i64::from(width));
    let steps = column.terms.iter().map(|(_, coefficient)| coefficient.map(whole));
    for step in steps {
        if !step?.is_zero() {
            return None;
        }
    }
    let mut offsets = tile_offsets(tile, Layout::RowMajor, visit, &run.symbols).ok()?;
    offsets.cases.pop().filter(|_| offsets.cases.is_empty())
}

/// The most different vectors of which the lanes need the word at one and the same place.
fn crowd(offsets: &[u32; LANES], active: u32, vector_bytes: u32) -> u32 {
    let mut most = 0;
    for word in 0..vector_bytes / 4 {
        let mut vectors: Vec<u32> = (0..LANES)
            .filter(|lane| active >> lane & 1 == 1)
            .filter(|lane| offsets[*lane] % vector_bytes / 4 == word)
            .map(|lane| offsets[lane] / vector_bytes)
            .collect();
        vectors.sort_unstable();
        vectors.dedup();
        most = most.max(vectors.len() as u32);
    }
    most
}

impl Found {
    /// Why this layout, as a clause.
    fn reason(&self, kernel: &Kernel, diagnostics: &Diagnostics) -> String {
        let mut text = match self.score {
            None => "no layout is known to be better".to_string(),
            Some(Score { excess: 0, .. }) => "no access conflicts".into(),
            Some(Score { excess, worst, .. }) => {
                let total = u32::try_from(excess).map_or_else(|_| excess.to_string(), grouped);
                let layouts = count(self.tried, "layout");
                let left = format!("{total} excess wavefronts in all, {worst} of one instruction at most");
                match &self.bound.worst {
                    Some(crowd) if excess == self.bound.excess => {
                        format!("{left}; {}", crowd.text(kernel, diagnostics))
                    }
                    Some(_) | None => format!("{left}, the fewest of {layouts}"),
                }
            }
        };
        if self.blind {
            text.push_str("; accesses whose places differ by data are left out");
        }
        text
    }
}

impl Crowd {
    fn text(&self, kernel: &Kernel, diagnostics: &Diagnostics) -> String {
        let Crowd { site, warp, words, banks, vector_bytes } = self;
        let line = diagnostics.spans.line(kernel.sites[*site].span);
        format!(
            "no layout that keeps vectors of {vector_bytes} bytes whole has fewer: the {words} words that warp {warp} needs on line {line} are in {banks} banks, so {} are the least",
            count(words.div_ceil(*banks), "wavefront")
        )
    }
}
