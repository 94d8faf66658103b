//! Which widths are worth fitting on further folds.

use std::cmp::Ordering;

use crate::Split;

/// What was predicted for the samples left out so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeldOut {
    /// How many correctly.
    pub hits: usize,
    /// The logarithm of the likelihood: no further fold adds to it.
    pub likelihood: f64,
}

impl HeldOut {
    /// More hits, then the larger likelihood.
    fn is_better(&self, other: &Self) -> bool {
        self.hits > other.hits || (self.hits == other.hits && self.likelihood > other.likelihood)
    }
}

/// A width and its regularisations, in the order in which each is the start of the next.
struct Lane {
    /// The folds that were run.
    n_folds: usize,
    /// Those that may still win, a start of the list.
    open: Vec<HeldOut>,
}

/// The cross-validation of all widths and regularisations, fold by fold. The winner is that of all folds for
/// all of them: of the best the first, by width, then by regularisation. Those that cannot win whatever
/// comes are given up; as each regularisation starts from the one before, only with all behind it.
///
/// All widths get one fold, then the one that leads gets all of them, and the others follow.
pub(super) struct Race<'a> {
    splits: &'a [Split],
    lanes: Vec<Lane>,
}

impl<'a> Race<'a> {
    pub(super) fn new(widths: &[f64], n_regularizations: usize, splits: &'a [Split]) -> Self {
        let lane = || Lane { n_folds: 0, open: vec![HeldOut::default(); n_regularizations] };
        Self { splits, lanes: widths.iter().map(|_| lane()).collect() }
    }

    /// The regularisations of a width that are still open.
    pub(super) fn open(&mut self, width: usize) -> &mut [HeldOut] {
        &mut self.lanes[width].open
    }

    /// The next fold of a width, if any is left; its regularisations that are [open](Self::open) are to be
    /// fitted on it.
    pub(super) fn next(&mut self) -> Option<(usize, &'a Split)> {
        self.give_up();
        let n_splits = self.splits.len();
        let runs = |lane: &Lane| lane.n_folds < n_splits && !lane.open.is_empty();
        let open = (0..self.lanes.len()).filter(|&at| runs(&self.lanes[at]));
        let at = open.reduce(|first, second| {
            let [one, other] = [first, second].map(|at| &self.lanes[at]);
            // Each has a first fold before any has its second; then those with more come first.
            let by_folds = match (one.n_folds, other.n_folds) {
                (0, 0) => Ordering::Equal,
                (0, _) => Ordering::Greater,
                (_, 0) => Ordering::Less,
                (one, other) => one.cmp(&other),
            };
            let is_behind = match (one.best(), other.best()) {
                (Some(one), Some(other)) => other.is_better(&one),
                _ => false,
            };
            match by_folds {
                Ordering::Greater => first,
                Ordering::Less => second,
                Ordering::Equal if is_behind => second,
                Ordering::Equal => first,
            }
        })?;
        let split = self.splits.get(self.lanes[at].n_folds)?;
        self.lanes[at].n_folds += 1;
        Some((at, split))
    }

    /// Closes what cannot win any more.
    fn give_up(&mut self) {
        let n_splits = self.splits.len();
        // Hits do not become fewer.
        let floor = self.lanes.iter().flat_map(|lane| &lane.open).map(|other| other.hits).max().unwrap_or(0);
        let finished = self.lanes.iter().filter(|lane| lane.n_folds == n_splits).filter_map(Lane::best);
        let best = finished.reduce(|first, second| if second.is_better(&first) { second } else { first });
        for lane in self.lanes.iter_mut().filter(|lane| lane.n_folds < n_splits) {
            let left: usize = self.splits.iter().skip(lane.n_folds).map(|split| split.test.len()).sum();
            let may_win = |one: &HeldOut| {
                let most = one.hits + left;
                let is_beaten =
                    best.is_some_and(|best| most == best.hits && one.likelihood < best.likelihood);
                most >= floor && !is_beaten
            };
            let end = lane.open.iter().rposition(may_win).map_or(0, |last| last + 1);
            lane.open.truncate(end);
        }
    }

    /// The best width and its regularisation.
    pub(super) fn winner(&self) -> (usize, usize) {
        let mut best: Option<(HeldOut, (usize, usize))> = None;
        for (width, lane) in self.lanes.iter().enumerate() {
            for (at, held_out) in lane.open.iter().enumerate() {
                if best.is_none_or(|(best, _)| held_out.is_better(&best)) {
                    best = Some((*held_out, (width, at)));
                }
            }
        }
        best.map_or((0, 0), |(_, place)| place)
    }
}

impl Lane {
    fn best(&self) -> Option<HeldOut> {
        let better = |first: HeldOut, second: HeldOut| if second.is_better(&first) { second } else { first };
        self.open.iter().copied().reduce(better)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the folds say, the winner is that of all folds for all; and much is given up.
    #[test]
    fn the_winner_is_that_of_all_folds() {
        let sizes = [7, 6, 7];
        let splits: Vec<Split> =
            sizes.iter().map(|&n| Split { train: Vec::new(), test: (0..n).collect() }).collect();
        let (mut n_fitted, mut n_all) = (0, 0);
        for seed in 0..2000_u64 {
            let draw = |width: usize, fold: usize, at: usize| {
                let place = (width * 100 + fold * 10 + at) as u64;
                let draw = fewest_core::derive_seed(seed, place);
                // Widths differ, and with few hits there are ties.
                let ease = fewest_core::derive_seed(seed, 1000 + width as u64) % 3;
                let misses = (draw % (2 + 2 * ease)) as usize;
                let hits = sizes[fold] - misses.min(sizes[fold]);
                HeldOut { hits, likelihood: -(((draw >> 32) % 4) as f64) - misses as f64 }
            };
            let add = |held_out: &mut HeldOut, more: HeldOut| {
                held_out.hits += more.hits;
                held_out.likelihood += more.likelihood;
            };
            let mut best: Option<(HeldOut, (usize, usize))> = None;
            for width in 0..4 {
                for at in 0..5 {
                    let mut all = HeldOut::default();
                    (0..3).for_each(|fold| add(&mut all, draw(width, fold, at)));
                    if best.is_none_or(|(best, _)| all.is_better(&best)) {
                        best = Some((all, (width, at)));
                    }
                }
            }
            let mut race = Race::new(&[1.0; 4], 5, &splits);
            let mut folds = [0; 4];
            while let Some((width, split)) = race.next() {
                let fold = folds[width];
                assert_eq!(split.test.len(), sizes[fold]);
                folds[width] += 1;
                for (at, held_out) in race.open(width).iter_mut().enumerate() {
                    add(held_out, draw(width, fold, at));
                    n_fitted += 1;
                }
            }
            n_all += 60;
            assert_eq!(Some(race.winner()), best.map(|(_, place)| place), "seed {seed}");
        }
        assert!(n_fitted < 4 * n_all / 5, "{n_fitted} of {n_all}");
    }

    #[test]
    fn without_folds_the_first_wins() {
        let mut race = Race::new(&[0.5, 1.0], 3, &[]);
        assert!(race.next().is_none());
        assert_eq!(race.winner(), (0, 0));
    }
}
