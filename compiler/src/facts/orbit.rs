//! Variables that a loop takes round a small orbit, such as `buf ^= 1`.
//!
//! Where a variable starts at a known number and every iteration makes the next number of it by itself, or of several
//! together, whatever the other variables hold, its value follows from the number of the iteration modulo the length of the orbit.

use super::linear::Linear;
use super::loops::Carried;
use super::walk::Walk;

/// Orbits with more values than this are not followed.
const LONGEST_ORBIT: usize = 16;

/// An iteration from the values that the variables have.
type Once<'w> = dyn FnMut(&mut Walk<'_>) + 'w;

impl Walk<'_> {
    /// Looks for orbits among the variables of which little is known otherwise: of each alone, then, where some are left, of
    /// all together. The least common multiple of their lengths.
    pub(super) fn find_orbits(&mut self, carried: &mut [Carried], once: &mut Once<'_>) -> i64 {
        let open = |carried: &[Carried]| -> Vec<usize> {
            (0..carried.len())
                .filter(|at| carried[*at].orbit.is_none() && carried[*at].orbit_start().is_some())
                .collect()
        };
        for at in open(carried) {
            self.find_orbit(carried, vec![at], once);
        }
        if !open(carried).is_empty() {
            let all = (0..carried.len()).filter(|at| carried[*at].orbit_start().is_some());
            self.find_orbit(carried, all.collect(), once);
        }
        let lengths = carried.iter().filter_map(|variable| Some(variable.orbit.as_ref()?.len() as i64));
        lengths.fold(1, |multiple, length| multiple / super::gcd(multiple, length) * length)
    }

    /// Follows variables from their first values, without those that do not follow from them, until all are back.
    fn find_orbit(&mut self, carried: &mut [Carried], mut places: Vec<usize>, once: &mut Once<'_>) {
        while !places.is_empty() {
            let start: Vec<i64> = places.iter().filter_map(|at| carried[*at].orbit_start()).collect();
            let mut turns = vec![start];
            let lost = loop {
                let next = self.next_in_orbit(carried, &places, &turns[turns.len() - 1], once);
                if next.contains(&None) || turns.len() > LONGEST_ORBIT {
                    break next;
                }
                let next: Vec<i64> = next.into_iter().flatten().collect();
                if next == turns[0] {
                    for (number, at) in places.iter().enumerate() {
                        carried[*at].orbit = Some(turns.iter().map(|turn| turn[number]).collect());
                    }
                    return;
                }
                if turns.contains(&next) {
                    return;
                }
                turns.push(next);
            };
            let before = places.len();
            places =
                places.into_iter().zip(lost).filter(|(_, next)| next.is_some()).map(|(at, _)| at).collect();
            if places.len() == before {
                return;
            }
        }
    }

    /// What an iteration makes of some variables, whatever the others hold.
    fn next_in_orbit(
        &mut self,
        carried: &[Carried],
        places: &[usize],
        values: &[i64],
        once: &mut Once<'_>,
    ) -> Vec<Option<i64>> {
        let (mark, scope) = (self.mark(), self.enter());
        let environment = self.environment.clone();
        for (number, variable) in carried.iter().enumerate() {
            let value = match places.iter().position(|at| *at == number) {
                Some(place) => variable.exactly(values[place]),
                None => variable.any_value(self),
            };
            self.environment[variable.local.index()] = Some(value);
        }
        once(self);
        let next = places.iter().map(|at| carried[*at].known_now(self)).collect();
        self.environment = environment;
        self.leave(scope);
        self.rewind(mark);
        next
    }

    /// A form modulo a number, where that is known.
    pub(super) fn residue_of(&mut self, form: &Linear, modulus: i64) -> Option<i64> {
        let open = form.terms.iter().find(|(_, coefficient)| {
            coefficient.uniform().is_none_or(|coefficient| coefficient % modulus != 0)
        });
        if let Some((symbol, _)) = open {
            self.request(form, *symbol, modulus);
            return None;
        }
        form.constant.uniform().map(|constant| constant.rem_euclid(modulus))
    }
}
