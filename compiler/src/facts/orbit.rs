//! Variables that a loop takes round a small orbit, such as `buf ^= 1`.
//!
//! Where a variable starts at a known number and every iteration makes the next number of it by itself, whatever the
//! other variables hold, its value follows from the number of the iteration modulo the length of the orbit.

use super::linear::Linear;
use super::loops::Carried;
use super::walk::Walk;

/// Orbits with more values than this are not followed.
const LONGEST_ORBIT: usize = 16;

/// An iteration from the values that the variables have.
type Once<'w> = dyn FnMut(&mut Walk<'_>) + 'w;

impl Walk<'_> {
    /// Looks for orbits among the variables of which little is known otherwise. The least common multiple of their lengths.
    pub(super) fn find_orbits(&mut self, carried: &mut [Carried], once: &mut Once<'_>) -> i64 {
        let mut multiple = 1;
        for at in 0..carried.len() {
            let Some(start) = carried[at].orbit_start() else { continue };
            let mut values = vec![start];
            while values.len() <= LONGEST_ORBIT {
                let last = values[values.len() - 1];
                match self.next_in_orbit(carried, at, last, once) {
                    Some(next) if next == start => {
                        let length = values.len() as i64;
                        multiple = multiple / super::gcd(multiple, length) * length;
                        carried[at].orbit = Some(values.into());
                        break;
                    }
                    Some(next) if !values.contains(&next) => values.push(next),
                    Some(_) | None => break,
                }
            }
        }
        multiple
    }

    /// What an iteration makes of one variable, whatever the others hold.
    fn next_in_orbit(
        &mut self,
        carried: &[Carried],
        at: usize,
        value: i64,
        once: &mut Once<'_>,
    ) -> Option<i64> {
        let (mark, scope) = (self.mark(), self.enter());
        let environment = self.environment.clone();
        for (place, variable) in carried.iter().enumerate() {
            let any = if place == at { variable.exactly(value) } else { variable.any_value(self) };
            self.environment[variable.local.index()] = Some(any);
        }
        once(self);
        let next = carried[at].known_now(self);
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
