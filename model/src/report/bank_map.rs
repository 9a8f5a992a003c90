//! The lanes of one warp instruction on the 32 banks of shared memory: as text, and as a picture.

use super::{Report, SiteReport, Space, count};
use crate::access::{Access, Cost, LANES, Operation, cost};
use crate::banks::{Served, served};
use std::fmt::{self, Write};

/// One warp instruction of an access site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WarpAccess {
    /// The warp of the block, counted from 0.
    pub warp: u32,
    /// Who accesses what. Offsets are from the beginning of the tile, up to what moves all lanes alike: a stage, a row that a
    /// loop's counter selects.
    pub access: Access,
}

/// Which lanes which pass serves from which bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankMap {
    /// The kernel.
    pub kernel: String,
    /// The number of the site in its report, counted from 0.
    pub site: usize,
    /// The access as written, such as `tile[thread_x()][thread_y() + k]`.
    pub access: String,
    /// Its line, counted from 1.
    pub line: u32,
    /// The warp of the block, counted from 0.
    pub warp: u32,
    /// What a pass is: `wavefront`, or `line` for an asynchronous copy of 16 bytes a lane, which is judged by the lines of 128
    /// bytes that it writes.
    pub unit: &'static str,
    /// The passes.
    pub passes: u32,
    /// The passes that would be enough.
    pub ideal: u32,
    /// What is served, by ascending pass and bank.
    pub cells: Vec<Served>,
}

/// Why there is no map of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoMap {
    /// The report has no such site.
    NoSite {
        /// How many it has.
        sites: usize,
    },
    /// It accesses global memory, which has no banks.
    Global,
    /// Where its lanes go is not known at compile time; the reason.
    Unknown(String),
}

impl WarpAccess {
    /// From the offsets of the lanes as little-endian bytes: one literal, where the macro embeds it.
    pub const fn embedded(
        warp: u32,
        operation: Operation,
        width: u32,
        active: u32,
        bytes: &[u8; 128],
    ) -> WarpAccess {
        let mut offsets = [0; LANES];
        let mut lane = 0;
        while lane < LANES {
            let at = 4 * lane;
            offsets[lane] = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            lane += 1;
        }
        WarpAccess { warp, access: Access { operation, width, active, offsets } }
    }
}

impl Report {
    /// The lanes of the costliest warp instruction of a site, given by its number in [`Report::sites`], on the 32 banks.
    ///
    /// # Errors
    /// Without such a site, for one of global memory, and where the lanes' addresses are not known.
    pub fn bank_map(&self, site: usize) -> Result<BankMap, NoMap> {
        let row = self.sites.get(site).ok_or(NoMap::NoSite { sites: self.sites.len() })?;
        let found = costliest(row)?;
        let Cost { wavefronts, ideal_wavefronts, lines, ideal_lines, .. } = cost(&found.access);
        let (unit, passes, ideal) =
            match found.access.operation == Operation::CopyAsync && found.access.width == 16 {
                true => ("line", lines, ideal_lines),
                false => ("wavefront", wavefronts, ideal_wavefronts),
            };
        Ok(BankMap {
            kernel: self.kernel.to_string(),
            site,
            access: row.access.to_string(),
            line: row.line,
            warp: found.warp,
            unit,
            passes,
            ideal,
            cells: served(&found.access),
        })
    }

    /// [`Report::bank_map`] as an SVG: a row a wavefront, a column a bank, and in each cell the lanes that it serves. Cells
    /// that wait for another word of their bank are marked. It scales to any width, and suits light and dark pages.
    ///
    /// # Errors
    /// As [`Report::bank_map`].
    pub fn bank_picture(&self, site: usize) -> Result<String, NoMap> {
        self.bank_map(site).map(|map| map.svg())
    }
}

fn costliest(row: &SiteReport) -> Result<&WarpAccess, NoMap> {
    if row.space == Space::Global {
        return Err(NoMap::Global);
    }
    row.costliest.as_ref().ok_or_else(|| NoMap::Unknown(row.unknown.to_string()))
}

/// The width of a cell.
const WIDTH: u32 = 24;
/// The height of a row.
const HEIGHT: u32 = 18;
/// The room for what is left of the cells.
const LEFT: u32 = 86;
/// The room above the cells.
const TOP: u32 = 52;

/// A page that includes the picture lends it its text colour; where it stands alone it has its own.
const STYLE: &str = ":root.tileproof-banks{color:#1f2328}\
@media(prefers-color-scheme:dark){:root.tileproof-banks{color:#e6edf3}}\
.tileproof-banks text{fill:currentColor}\
.tileproof-banks .grid{fill:none;stroke:currentColor;stroke-opacity:.15}\
.tileproof-banks .free{fill:#2f81f7;fill-opacity:.3}\
.tileproof-banks .waits{fill:#f0603a;fill-opacity:.5;stroke:#f0603a}";

impl BankMap {
    /// The picture; see [`Report::bank_picture`].
    pub fn svg(&self) -> String {
        let (width, height) = (LEFT + 32 * WIDTH + 8, TOP + self.passes * HEIGHT + 8);
        let id = format!("{}-site-{}", escaped(&self.kernel), self.site);
        let (headline, description) = (escaped(&self.headline()), escaped(&self.description()));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tileproof-banks\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-text\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"10\">\n\
             <title id=\"{id}-title\">{headline}</title>\n<desc id=\"{id}-text\">{description}</desc>\n\
             <style>{STYLE}</style>\n<text x=\"8\" y=\"16\" font-size=\"12\">{headline}</text>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">bank</text>\n",
            LEFT - 8,
            TOP - 6,
        );
        // Writing to a string does not fail.
        for bank in 0..32 {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{bank}</text>",
                LEFT + bank * WIDTH + WIDTH / 2,
                TOP - 6
            );
        }
        for pass in 0..self.passes {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} {pass}</text>",
                LEFT - 8,
                TOP + pass * HEIGHT + HEIGHT - 5,
                self.unit
            );
        }
        let _ = writeln!(out, "<path class=\"grid\" d=\"{}\"/>", self.grid());
        for cell in &self.cells {
            let _ = writeln!(out, "{}", drawn(cell));
        }
        out + "</svg>\n"
    }

    fn grid(&self) -> String {
        let (right, bottom) = (LEFT + 32 * WIDTH, TOP + self.passes * HEIGHT);
        let across = (0..=self.passes).map(|pass| format!("M{LEFT} {}H{right}", TOP + pass * HEIGHT));
        let down = (0..=32).map(|bank| format!("M{} {TOP}V{bottom}", LEFT + bank * WIDTH));
        across.chain(down).collect()
    }

    /// What it shows, in one line.
    fn headline(&self) -> String {
        let BankMap { access, line, warp, unit, passes, ideal, .. } = self;
        let cost = match passes > ideal {
            true => {
                let verb = if *ideal == 1 { "is" } else { "are" };
                format!("{} where {ideal} {verb} enough", count(u64::from(*passes), unit))
            }
            false => format!("{}, the fewest", count(u64::from(*passes), unit)),
        };
        format!("line {line}: {access}, warp {warp}: {cost}")
    }

    /// The picture for those who do not see it.
    fn description(&self) -> String {
        let lanes = self.cells.iter().fold(0, |lanes, cell| lanes | cell.lanes);
        let waiting = self.cells.iter().filter(|cell| cell.waits).fold(0, |lanes, cell| lanes | cell.lanes);
        let waiting = match waiting {
            0 => "no lane waits for another".to_string(),
            some => format!("{} wait for others", named(some)),
        };
        let most = (0..32).max_by_key(|bank| (self.words_of(*bank), std::cmp::Reverse(*bank))).unwrap_or(0);
        format!(
            "A row a {}, a column a bank of shared memory, in each cell the lanes that it serves. Of {}, {waiting}; bank {most} has the most to give, {}.",
            self.unit,
            named(lanes),
            count(self.words_of(most), "word")
        )
    }

    /// How many words a bank gives.
    fn words_of(&self, bank: u32) -> u64 {
        self.cells.iter().filter(|cell| (cell.bank..cell.bank + cell.banks).contains(&bank)).count() as u64
    }
}

/// A cell with its lanes, and what there is to say of it where a pointer rests.
fn drawn(cell: &Served) -> String {
    let (x, y, width) = (LEFT + cell.bank * WIDTH, TOP + cell.pass * HEIGHT, cell.banks * WIDTH);
    let class = if cell.waits { "waits" } else { "free" };
    let words = match cell.banks {
        1 => format!("word {}", cell.word),
        more => format!("words {} to {}", cell.word, cell.word + more - 1),
    };
    format!(
        "<g><title>{words}: {}</title><rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{}\">{}</text></g>",
        named(cell.lanes),
        x + 1,
        y + 1,
        width - 2,
        HEIGHT - 2,
        x + width / 2,
        y + HEIGHT - 5,
        if cell.lanes.count_ones() == 1 { 10 } else { 8 },
        short(cell.lanes, cell.banks)
    )
}

/// The lanes in the room of so many banks: `5`, `0–31`, `8×`.
fn short(lanes: u32, banks: u32) -> String {
    let (first, last) = (lanes.trailing_zeros(), 31 - lanes.leading_zeros());
    match lanes.count_ones() {
        1 => first.to_string(),
        number if number == last - first + 1 => format!("{first}–{last}"),
        2 if banks > 1 => format!("{first}, {last}"),
        number => format!("{number}×"),
    }
}

/// `lane 5`, `lanes 0 to 31`, `lanes 0, 2, 4`.
fn named(lanes: u32) -> String {
    let list: Vec<u32> = (0..32).filter(|lane| lanes >> lane & 1 == 1).collect();
    match list.as_slice() {
        [lane] => format!("lane {lane}"),
        [first, .., last] if list.len() > 2 && last - first + 1 == list.len() as u32 => {
            format!("lanes {first} to {last}")
        }
        _ => format!("lanes {}", list.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Text as XML may hold it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl fmt::Display for BankMap {
    /// A row a pass, a column a bank, 102 characters wide. A cell holds the lane that it serves, `+` stands for others that get the
    /// same word, and `!` marks a pass in which lanes are that waited for another word of their bank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        write!(f, "bank  ")?;
        (0..32).try_for_each(|bank| write!(f, "{bank:>3}"))?;
        for pass in 0..self.passes {
            let mut row = [const { String::new() }; 32];
            for cell in self.cells.iter().filter(|cell| cell.pass == pass) {
                let others = if cell.lanes.count_ones() > 1 { "+" } else { "" };
                let text = format!("{}{others}", cell.lanes.trailing_zeros());
                row[cell.bank as usize..(cell.bank + cell.banks) as usize].fill(text);
            }
            let waits = self.cells.iter().any(|cell| cell.pass == pass && cell.waits);
            write!(f, "\n{pass:>4}{} ", if waits { '!' } else { ' ' })?;
            for text in &row {
                write!(f, "{:>3}", if text.is_empty() { "·" } else { text })?;
            }
        }
        writeln!(f)
    }
}

impl fmt::Display for NoMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMap::NoSite { sites } => {
                write!(f, "no such access site: the report has {sites}, counted from 0")
            }
            NoMap::Global => f.write_str("this access is to global memory, which has no banks"),
            NoMap::Unknown(reason) => write!(f, "where the lanes go is not known: {reason}"),
        }
    }
}

impl std::error::Error for NoMap {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// A report with one shared access of these offsets.
    fn report(operation: Operation, width: u32, offset: impl Fn(u32) -> u32) -> Report {
        let access = Access::full_warp(operation, width, offset);
        let mut site = sample::site();
        (site.space, site.costliest) = (Space::Shared, Some(WarpAccess { warp: 1, access }));
        Report { sites: vec![site].into(), ..sample::report() }
    }

    /// The elements of a document, each with its attributes and the text at its beginning; panics where they do not nest.
    fn elements(document: &str) -> Vec<(String, String, String)> {
        let (mut open, mut found): (Vec<&str>, Vec<_>) = (Vec::new(), Vec::new());
        for piece in document.split('<').skip(1) {
            let (tag, text) = piece.split_once('>').expect("a tag that ends");
            assert!(!text.contains('>') && !tag.contains('&') | tag.contains("&lt;"), "{piece}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
                continue;
            }
            let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            let alone = attributes.ends_with('/');
            assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
            if !alone {
                open.push(name);
            }
            found.push((name.to_string(), attributes.trim_end_matches('/').to_string(), text.to_string()));
        }
        assert!(open.is_empty(), "{open:?}");
        found
    }

    fn classes(svg: &str, class: &str) -> usize {
        elements(svg)
            .iter()
            .filter(|(_, attributes, _)| attributes.contains(&format!("class=\"{class}\"")))
            .count()
    }

    #[test]
    fn a_column_of_an_unpadded_tile_is_a_tower() {
        let svg = report(Operation::LoadShared, 4, |lane| 128 * lane).bank_picture(0).unwrap();
        assert_eq!((classes(&svg, "free"), classes(&svg, "waits")), (1, 31));
        let texts: Vec<String> =
            elements(&svg).into_iter().map(|(_, _, text)| text.trim().to_string()).collect();
        for lane in 0..32 {
            assert!(texts.contains(&format!("word {}: lane {lane}", 32 * lane)), "{lane}");
            assert!(texts.contains(&format!("wavefront {lane}")), "{lane}");
        }
        assert!(texts.iter().any(|text| text.ends_with("32 wavefronts where 1 is enough")));
        assert!(texts.iter().any(|text| text.ends_with("bank 0 has the most to give, 32 words.")));
    }

    #[test]
    fn what_the_source_says_is_text_in_the_picture() {
        let mut report = report(Operation::LoadShared, 4, |lane| 4 * lane);
        report.sites.to_mut()[0].access = "tile[a::<3>() & \"x\"]".into();
        let svg = report.bank_picture(0).unwrap();
        assert!(elements(&svg)[1].2.starts_with("line 7: tile[a::&lt;3&gt;() &amp; &quot;x&quot;], warp 1:"));
        assert_eq!((classes(&svg, "free"), classes(&svg, "waits")), (32, 0));
    }

    #[test]
    fn lanes_that_share_a_word_share_a_cell() {
        let map = report(Operation::StoreShared, 2, |lane| 2 * lane).bank_map(0).unwrap();
        assert_eq!((map.passes, map.cells.len(), map.cells[3].lanes), (1, 16, 0b11 << 6));
        let broadcast = report(Operation::LoadShared, 4, |_| 8).bank_picture(0).unwrap();
        let texts: Vec<String> = elements(&broadcast).into_iter().map(|(_, _, text)| text).collect();
        assert!(texts.contains(&"word 2: lanes 0 to 31".to_string()) && texts.contains(&"0–31".to_string()));
    }

    #[test]
    fn a_wide_copy_is_drawn_by_its_lines() {
        let map = report(Operation::CopyAsync, 16, |lane| 256 * lane).bank_map(0).unwrap();
        assert_eq!((map.unit, map.passes, map.ideal), ("line", 32, 4));
        assert_eq!(map.cells.iter().filter(|cell| cell.waits).count(), 28);
    }

    #[test]
    fn a_terminal_shows_rows_and_banks() {
        let map =
            report(Operation::LoadShared, 8, |lane| 8 * (lane / 2) + 128 * (lane & 1)).bank_map(0).unwrap();
        let text = map.to_string();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("line 7: tile[thread_x()], warp 1: 4 wavefronts where 2 are enough"));
        let banks: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!((banks.len(), banks[0], banks[32]), (33, "bank", "31"));
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
        assert_eq!((rows.len(), rows[0][0], rows[1][0]), (4, "0", "1!"));
        assert_eq!(rows[0][1..5], ["0", "0", "2", "2"]);
        assert_eq!(rows[1][1..5], ["1", "1", "3", "3"]);
        assert_eq!(rows[2][16..19], ["·", "16", "16"]);
    }

    #[test]
    fn what_has_no_map_says_why() {
        let mut report = sample::report();
        assert_eq!(report.bank_map(7), Err(NoMap::NoSite { sites: 1 }));
        report.sites.to_mut()[0].space = Space::Global;
        assert_eq!(report.bank_picture(0), Err(NoMap::Global));
        (report.sites.to_mut()[0].space, report.sites.to_mut()[0].unknown) =
            (Space::Shared, "it depends on data".into());
        let error = report.bank_map(0).unwrap_err();
        assert_eq!(error.to_string(), "where the lanes go is not known: it depends on data");
    }

    #[test]
    fn offsets_survive_the_embedding() {
        let offsets: [u32; LANES] = std::array::from_fn(|lane| 0x0102_0304 * lane as u32);
        let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let found =
            WarpAccess::embedded(3, Operation::LoadShared, 4, 7, bytes.as_slice().try_into().unwrap());
        let access = Access { operation: Operation::LoadShared, width: 4, active: 7, offsets };
        assert_eq!(found, WarpAccess { warp: 3, access });
    }
}
