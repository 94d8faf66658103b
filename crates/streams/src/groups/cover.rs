//! Which variables tell most of a target, as far as the samples show it.

use fewest_core::state;
use fewest_counts::discretisation::Levels;

use crate::independence::ROWS_PER_FREEDOM;
use crate::tails;

/// A state of some variables together for every sample: codes `0 .. n_states`, each of which occurs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct States {
    codes: Vec<u32>,
    n_states: usize,
}

state!(States { codes, n_states });

impl From<&Levels> for States {
    fn from(levels: &Levels) -> Self {
        Self { codes: levels.codes.clone(), n_states: levels.n_levels }
    }
}

impl States {
    /// Of no variable: one state.
    pub(super) fn none(n: usize) -> Self {
        Self { codes: vec![0; n], n_states: 1 }
    }

    /// Floating-point numbers that take as much memory.
    pub(super) fn size(&self) -> usize {
        self.codes.len().div_ceil(2)
    }

    /// Of both together.
    pub(super) fn with(&self, other: &Self) -> Self {
        let width = other.n_states as u64;
        let keys: Vec<u64> = self
            .codes
            .iter()
            .zip(&other.codes)
            .map(|(own, other)| u64::from(*own) * width + u64::from(*other))
            .collect();
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |key: &u64| distinct.partition_point(|other| other < key) as u32;
        Self { codes: keys.iter().map(place).collect(), n_states: distinct.len() }
    }

    /// `Σ c ln c` of how often each state occurs.
    fn sum(&self) -> f64 {
        let mut counts = vec![0_u32; self.n_states];
        self.codes.iter().for_each(|code| counts[*code as usize] += 1);
        counts.into_iter().map(f64::from).map(|count| count * count.ln()).sum()
    }
}

/// What a variable tells of the target beyond others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// `I(x; y | given)` of the samples, in nats.
    pub(super) information: f64,
    /// Degrees of freedom of its test.
    pub(super) freedom: usize,
    /// Of the likelihood ratio `G² = 2 n I`; none where there are too few samples for it.
    pub(super) p_value: Option<f64>,
}

impl Gain {
    /// `I(x; y | given)`, of `(r_{x,given} − r_given)(r_y − 1)` degrees of freedom, `r` the number of states
    /// that occur.
    pub(super) fn of(x: &States, y: &States, given: &States) -> Self {
        let n = x.codes.len();
        let x_given = x.with(given);
        let information =
            (x_given.with(y).sum() - x_given.sum() - given.with(y).sum() + given.sum()) / n as f64;
        let information = information.max(0.0);
        let freedom = (x_given.n_states - given.n_states) * (y.n_states - 1);
        let p_value = match freedom {
            // It follows from what is given.
            0 => Some(1.0),
            _ if freedom > n / ROWS_PER_FREEDOM => None,
            _ => Some(tails::chi_squared(2.0 * n as f64 * information, freedom as f64)),
        };
        Self { information, freedom, p_value }
    }

    /// Whether the samples show it at level `alpha`.
    pub(super) fn is_shown(self, alpha: f64) -> bool {
        self.p_value.is_some_and(|p| p <= alpha)
    }

    /// Whether the samples show none: at level `alpha`, by a test that could be made.
    fn is_refuted(self, alpha: f64) -> bool {
        self.p_value.is_some_and(|p| p > alpha)
    }

    /// The information less what is expected of a variable that tells nothing, `freedom / 2n`.
    fn corrected(self, n: usize) -> f64 {
        self.information - self.freedom as f64 / (2.0 * n as f64)
    }
}

/// A variable, or several together, and what it costs to take it.
pub(super) struct Candidate<'a> {
    pub(super) states: &'a States,
    pub(super) cost: f64,
}

/// The candidates that cover most of what is uncertain of `y` for their cost, by their places, the best
/// first: greedily by corrected information per cost given those taken, among those that the samples show at
/// level `alpha`; then those leave, the first one first, that the others make superfluous.
pub(super) fn cover(candidates: &[Candidate<'_>], y: &States, alpha: f64) -> Vec<usize> {
    let n = y.codes.len();
    let mut taken: Vec<usize> = Vec::new();
    let mut known = States::none(n);
    loop {
        let mut best: Option<(f64, usize)> = None;
        for (place, candidate) in candidates.iter().enumerate().filter(|(place, _)| !taken.contains(place)) {
            let gain = Gain::of(candidate.states, y, &known);
            let worth = gain.corrected(n) / candidate.cost;
            if gain.is_shown(alpha) && best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, place));
            }
        }
        let Some((_, place)) = best else { break };
        known = known.with(candidates[place].states);
        taken.push(place);
    }
    let mut at = 0;
    while at < taken.len() && taken.len() > 1 {
        let others = taken.iter().filter(|place| **place != taken[at]);
        let rest = others.fold(States::none(n), |rest, place| rest.with(candidates[*place].states));
        match Gain::of(candidates[taken[at]].states, y, &rest).is_refuted(alpha) {
            true => drop(taken.remove(at)),
            false => at += 1,
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(codes: &[u32]) -> States {
        States { codes: codes.to_vec(), n_states: *codes.iter().max().unwrap() as usize + 1 }
    }

    /// The definition, over all states that occur.
    fn defined(x: &[u32], y: &[u32], z: &[u32]) -> f64 {
        let n = x.len();
        let share = |has: &dyn Fn(usize) -> bool| (0..n).filter(|&i| has(i)).count() as f64 / n as f64;
        let mut total = 0.0;
        for i in 0..n {
            let all = share(&|k| x[k] == x[i] && y[k] == y[i] && z[k] == z[i]);
            let (xz, yz) =
                (share(&|k| x[k] == x[i] && z[k] == z[i]), share(&|k| y[k] == y[i] && z[k] == z[i]));
            total += (all * share(&|k| z[k] == z[i]) / (xz * yz)).ln() / n as f64;
        }
        total
    }

    #[test]
    fn information_is_its_definition() {
        let draw = |seed: u64, levels: u64| -> Vec<u32> {
            (0..200).map(|i| (fewest_core::derive_seed(seed, i) % levels) as u32).collect()
        };
        for seed in 0..6 {
            let (x, z) = (draw(seed, 4), draw(seed + 100, 3));
            let y: Vec<u32> =
                x.iter().zip(&z).zip(draw(seed + 200, 2)).map(|((x, z), e)| (x + z + e) % 2).collect();
            let gain = Gain::of(&states(&x), &states(&y), &states(&z));
            assert!((gain.information - defined(&x, &y, &z)).abs() < 1e-12);
            assert_eq!(gain.freedom, 9);
            let p = crate::tails::chi_squared(400.0 * gain.information, 9.0);
            assert_eq!(gain.p_value, Some(p));
            // The chain rule.
            let alone = Gain::of(&states(&z), &states(&y), &States::none(200));
            let both = Gain::of(&states(&x).with(&states(&z)), &states(&y), &States::none(200));
            assert!((alone.information + gain.information - both.information).abs() < 1e-12);
        }
        // What follows from the given says nothing, and too many states cannot be tested.
        let (x, y) = (draw(7, 4), draw(8, 2));
        let folded: Vec<u32> = x.iter().map(|x| x / 2).collect();
        assert_eq!(Gain::of(&states(&folded), &states(&y), &states(&x)).p_value, Some(1.0));
        let many: Vec<u32> = (0..200).collect();
        assert_eq!(Gain::of(&states(&many), &states(&y), &States::none(200)).p_value, None);
    }

    /// A parity that only two variables together tell is not found by a greedy search; a sum is, and what
    /// repeats a variable leaves, in any order of the candidates.
    #[test]
    fn a_cover_takes_what_tells_more_and_leaves_repeats() {
        let n = 400;
        let bit = |seed: u64| -> Vec<u32> {
            (0..n).map(|i| (fewest_core::derive_seed(seed, i) % 2) as u32).collect()
        };
        let (a, b) = (bit(1), bit(2));
        let y: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a + 2 * b).collect();
        let both: Vec<u32> = y.clone();
        let all = [states(&a), states(&b), states(&a), states(&bit(3)), states(&both)];
        let y = states(&y);
        let candidates = |costs: [f64; 5]| -> Vec<Candidate<'_>> {
            all.iter().zip(costs).map(|(states, cost)| Candidate { states, cost }).collect()
        };
        assert_eq!(cover(&candidates([1.0; 5])[..4], &y, 0.01).len(), 2);
        assert_eq!(cover(&candidates([1.0; 5]), &y, 0.01), [4], "it tells what two tell");
        let mut dear = cover(&candidates([1.0, 1.0, 1.0, 1.0, 3.0]), &y, 0.01);
        dear.sort_unstable();
        assert!(dear == [0, 1] || dear == [1, 2], "{dear:?}");
    }
}
