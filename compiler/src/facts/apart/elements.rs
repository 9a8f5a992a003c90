//! Elements of a tensor whose distances are known numbers, each by one number, and who touches them.

use super::Visit;

/// Up to how many numbers a place is kept for each.
const MOST_DENSE: i128 = 1 << 20;
/// No place.
const NONE: u32 = u32::MAX;

/// One access of a thread to an element: the element, the thread, and the number of the visit.
pub(super) type Touch = (i128, usize, usize);

/// How elements are numbered: within a box around all of them.
pub(super) struct Elements {
    /// By extent: the least index, and how many elements are between one index and the next.
    extents: Vec<(i64, i128)>,
    count: i128,
}

impl Elements {
    /// A box around the elements that visits touch, so many from their index on. `None` where numbers are too large.
    pub(super) fn around(accesses: [(&[(usize, &Visit)], u32); 2]) -> Option<Elements> {
        let mut ends: Vec<(i64, i64)> = Vec::new();
        for (visits, wide) in accesses {
            for (_, visit) in visits {
                for (place, form) in visit.index.iter().enumerate() {
                    let (least, most) = form.constant.extremes(&visit.mask)?;
                    let is_last = place + 1 == visit.index.len();
                    let most = most.checked_add(if is_last { i64::from(wide) - 1 } else { 0 })?;
                    match ends.get_mut(place) {
                        Some(known) => *known = (known.0.min(least), known.1.max(most)),
                        None => ends.push((least, most)),
                    }
                }
            }
        }
        let (mut count, mut extents) = (1i128, Vec::new());
        for (least, most) in ends.iter().rev() {
            extents.push((*least, count));
            count = count.checked_mul(i128::from(*most) - i128::from(*least) + 1)?;
        }
        extents.reverse();
        Some(Elements { extents, count })
    }

    /// The elements that visits touch.
    pub(super) fn touched(&self, visits: &[(usize, &Visit)], wide: u32, threads: usize) -> Vec<Touch> {
        let mut touched = Vec::with_capacity(visits.len() * threads * wide as usize);
        for (number, (_, visit)) in visits.iter().enumerate() {
            let mut thread = 0;
            while thread < threads {
                if visit.mask.get(thread) {
                    let mut element = 0;
                    for (form, (least, stride)) in visit.index.iter().zip(&self.extents) {
                        element += (i128::from(form.constant.get(thread)) - i128::from(*least)) * stride;
                    }
                    for further in 0..i128::from(wide) {
                        touched.push((element + further, thread, number));
                    }
                }
                thread += 1;
            }
        }
        touched
    }

    /// Where elements are among these.
    pub(super) fn places(&self, touched: &[Touch]) -> Places {
        if self.count > MOST_DENSE {
            let mut sorted: Vec<(i128, u32)> =
                touched.iter().zip(0..).map(|((element, ..), place)| (*element, place)).collect();
            sorted.sort_unstable();
            return Places::Sorted(sorted);
        }
        let mut last = vec![NONE; self.count as usize];
        let mut before = Vec::with_capacity(touched.len());
        for ((element, ..), place) in touched.iter().zip(0..) {
            before.push(last[*element as usize]);
            last[*element as usize] = place;
        }
        Places::Dense { last, before }
    }
}

/// Where elements are in a list.
pub(super) enum Places {
    /// By number: the last place, and by place, the one before with the same number.
    Dense { last: Vec<u32>, before: Vec<u32> },
    /// In order, each with its place.
    Sorted(Vec<(i128, u32)>),
}

impl Places {
    /// Whether something is so of all places of an element.
    pub(super) fn all(&self, element: i128, mut is_so: impl FnMut(usize) -> bool) -> bool {
        match self {
            Places::Dense { last, before } => {
                let mut place = last[element as usize];
                while place != NONE {
                    if !is_so(place as usize) {
                        return false;
                    }
                    place = before[place as usize];
                }
                true
            }
            Places::Sorted(sorted) => {
                let from = sorted.partition_point(|(other, _)| *other < element);
                let same = sorted[from..].iter().take_while(|(other, _)| *other == element);
                same.into_iter().all(|(_, place)| is_so(*place as usize))
            }
        }
    }
}
