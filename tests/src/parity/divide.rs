//! Whether the instructions of some lines can be told apart by what they counted, where their lines do not tell.

/// What an instruction counted, or a line has to: any numbers, in one order.
pub type Vector = [u64; 4];

/// How many instructions the search tries before it gives up.
const TRIES: u32 = 1_000_000;

/// Whether the instructions can be divided among the lines so that each line gets exactly its counts, and none is left over. Instructions and
/// lines of nothing do not matter. A search that takes too long has found nothing.
pub fn divides(instructions: &[Vector], lines: &[Vector]) -> bool {
    let nothing = Vector::default();
    let mut alike: Vec<(Vector, usize)> = Vec::new();
    for &instruction in instructions.iter().filter(|it| **it != nothing) {
        match alike.iter_mut().find(|(vector, _)| *vector == instruction) {
            Some((_, count)) => *count += 1,
            None => alike.push((instruction, 1)),
        }
    }
    // The largest first: they fit in the fewest places.
    alike.sort_unstable_by(|a, b| b.cmp(a));
    let lines: Vec<Vector> = lines.iter().copied().filter(|it| *it != nothing).collect();
    let mut tries = TRIES;
    fill(&lines, nothing, 0, &mut alike, &mut tries)
}

/// Fills what a line still lacks with instructions from the group `from` on, then the other lines.
fn fill(
    lines: &[Vector],
    lacks: Vector,
    from: usize,
    alike: &mut [(Vector, usize)],
    tries: &mut u32,
) -> bool {
    if lacks == Vector::default() {
        return match lines {
            [] => alike.iter().all(|(_, count)| *count == 0),
            [next, others @ ..] => fill(others, *next, 0, alike, tries),
        };
    }
    for group in from..alike.len() {
        let (vector, count) = alike[group];
        let Some(rest) = less(lacks, vector).filter(|_| count > 0) else { continue };
        if *tries == 0 {
            return false;
        }
        *tries -= 1;
        alike[group].1 -= 1;
        if fill(lines, rest, group, alike, tries) {
            return true;
        }
        alike[group].1 += 1;
    }
    false
}

fn less(whole: Vector, part: Vector) -> Option<Vector> {
    let mut rest = Vector::default();
    for (rest, (whole, part)) in rest.iter_mut().zip(whole.into_iter().zip(part)) {
        *rest = whole.checked_sub(part)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_divided_among_lines() {
        let (narrow, wide) = ([32, 1, 0, 0], [32, 4, 0, 0]);
        let instructions = [narrow, wide, wide, narrow, narrow, [0; 4]];
        assert!(divides(&instructions, &[[64, 5, 0, 0], [96, 6, 0, 0]]));
        assert!(divides(&instructions, &[[96, 9, 0, 0], [64, 2, 0, 0], [0; 4]]));
        // The sums are right, and no instruction counted 64 lanes and 3.
        assert!(!divides(&instructions, &[[64, 3, 0, 0], [96, 8, 0, 0]]));
        // One is left over.
        assert!(!divides(&instructions, &[[64, 5, 0, 0], [64, 5, 0, 0]]));
        assert!(divides(&[], &[]));
        assert!(!divides(&[narrow], &[]));
    }

    #[test]
    fn many_that_are_alike_are_divided_at_once() {
        let instructions = [[32, 1, 0, 0]; 400];
        assert!(divides(&instructions, &[[32 * 150, 150, 0, 0], [32 * 250, 250, 0, 0]]));
        assert!(!divides(&instructions, &[[32 * 150, 150, 0, 0], [32 * 249, 249, 0, 0]]));
    }
}
