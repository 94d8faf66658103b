//! Sets of every size: one more column, one fewer, and exchanges of one for another.

use std::collections::{BTreeMap, BTreeSet};

use fewest_core::{Context, Error, Status, room};
use fewest_solver::InnerProducts;

use super::super::columns::LinearColumns;
use super::tableau::Tableau;

/// Columns whose products with all others are computed at a time: those most likely to enter next, which a
/// forward selection tells among so many that lower the objective most.
const BATCH: usize = 8;
const CANDIDATES: usize = 256;

/// Bytes that such products may take.
const MOST_BYTES: usize = 1 << 28;

/// Changes of the objective below this share of the one at zero are rounding.
const LEAST_GAIN: f64 = 1e-13;

/// Most passes over all sizes, up and down.
pub(super) const MOST_PASSES: usize = 8;

/// Exchanges from one set that turn out to bring nothing, at most.
const MOST_BARRED: usize = 64;

/// A set of columns and its fit.
#[derive(Clone)]
pub(super) struct Found {
    pub objective: f64,
    /// In the order in which they entered.
    pub columns: Vec<usize>,
    /// Output by output.
    pub coefficients: Vec<Vec<f64>>,
}

/// The best sets found so far.
pub(super) struct Search<'a> {
    columns: &'a LinearColumns<'a>,
    context: &'a Context<'a>,
    all: Vec<usize>,
    /// Products of a column with all others.
    grams: BTreeMap<usize, Vec<f64>>,
    start: Tableau,
    tableau: Tableau,
    /// By number of columns; those of none first.
    pub best: Vec<Found>,
    /// Columns that entered.
    pub n_steps: usize,
    /// Whether the last pass found nothing better.
    pub is_settled: bool,
    /// How it was stopped.
    pub stopped: Option<Status>,
}

impl<'a> Search<'a> {
    pub(super) fn new(columns: &'a LinearColumns<'a>, context: &'a Context<'a>) -> Self {
        let atoms = columns.atoms();
        let start = Tableau::new(&columns.outputs, &atoms.squared_norms);
        let mut search = Self {
            columns,
            context,
            all: (0..columns.n_atoms()).collect(),
            grams: BTreeMap::new(),
            tableau: start.clone(),
            start,
            best: Vec::new(),
            n_steps: 0,
            is_settled: false,
            stopped: None,
        };
        search.record();
        search
    }

    /// Improves the best sets of all sizes up to `k`, if there are so many columns that bring something:
    /// at most `most_passes` up and down, until one finds nothing better. For `k` itself also by way of
    /// `exchanges` more columns.
    pub(super) fn run(&mut self, k: usize, exchanges: usize, most_passes: usize) -> Result<(), Error> {
        let most = k.saturating_add(exchanges).min(self.columns.n_samples());
        let sizes = [most.min(self.all.len()), self.all.len()];
        drop(room("the sets of features", &sizes, "best-subset", "select fewer features, or among fewer")?);
        for pass in 0..most_passes {
            if self.is_stopped() {
                break;
            }
            let mut improved = self.up(k)?;
            while !self.is_stopped() {
                self.up(k.saturating_add(exchanges))?;
                let better = self.down(k)?;
                improved |= better;
                if !better {
                    break;
                }
            }
            if self.is_stopped() {
                break;
            }
            if pass > 0 && !improved {
                self.is_settled = true;
                break;
            }
            self.restore(k)?;
            if !self.down(1)? {
                self.is_settled = true;
                break;
            }
        }
        Ok(())
    }

    fn is_stopped(&mut self) -> bool {
        if self.stopped.is_none() {
            self.stopped = self.context.stopped();
        }
        self.stopped.is_some()
    }

    /// Adds columns until there are `k`; whether a set is better than the best of its size.
    fn up(&mut self, k: usize) -> Result<bool, Error> {
        let mut improved = false;
        while self.tableau.active.len() < k && !self.is_stopped() {
            let Some(column) = self.best_entry() else { break };
            if self.enter(column)? {
                self.exchange()?;
                improved |= self.record();
            }
            self.context.report("features in the set", self.tableau.active.len(), k);
        }
        Ok(improved)
    }

    /// Takes columns away until there are `k`; whether a set is better than the best of its size.
    fn down(&mut self, k: usize) -> Result<bool, Error> {
        let mut improved = false;
        while self.tableau.active.len() > k && !self.is_stopped() {
            let rises = self.tableau.rises();
            let Some(place) = (0..rises.len()).min_by(|&a, &b| rises[a].total_cmp(&rises[b])) else { break };
            self.tableau.leave(place);
            self.exchange()?;
            improved |= self.record();
        }
        Ok(improved)
    }

    /// Exchanges one column for another while that lowers the objective.
    pub(super) fn exchange(&mut self) -> Result<(), Error> {
        // Those that bring nothing from this set: what enters depends on the others, or the gain is rounding.
        let mut barred = BTreeSet::new();
        while !self.is_stopped() && barred.len() < MOST_BARRED {
            let best = self.tableau.best_exchange(&barred);
            let Some(best) = best.filter(|best| best.gain > self.least_gain()) else { break };
            let before = self.tableau.objective;
            let leaves = self.tableau.active[best.leaves];
            let columns = self.tableau.active.clone();
            self.tableau.leave(best.leaves);
            let has_entered = self.enter(best.enters)?;
            if has_entered && self.tableau.objective < before {
                barred.clear();
                continue;
            }
            barred.insert((leaves, best.enters));
            if has_entered {
                self.tableau.leave(self.tableau.active.len() - 1);
            }
            if !self.enter(leaves)? {
                self.rebuild(&columns)?;
            }
        }
        Ok(())
    }

    /// The largest gain that an exchange would bring.
    pub(super) fn largest_gain(&self) -> f64 {
        self.tableau.best_exchange(&BTreeSet::new()).map_or(0.0, |best| best.gain.max(0.0))
    }

    fn least_gain(&self) -> f64 {
        LEAST_GAIN * self.columns.outputs.len() as f64
    }

    /// The column that lowers the objective most, if one does.
    fn best_entry(&self) -> Option<usize> {
        let gains = self.tableau.gains();
        let better = |best: Option<usize>, column: usize| match best {
            Some(best) if gains[best] >= gains[column] => Some(best),
            _ if gains[column] > self.least_gain() => Some(column),
            best => best,
        };
        (0..gains.len()).fold(None, better)
    }

    /// Lets `column` enter; false where it depends on those of the set.
    fn enter(&mut self, column: usize) -> Result<bool, Error> {
        if !self.grams.contains_key(&column) {
            self.compute(column)?;
        }
        self.n_steps += 1;
        Ok(self.grams.get(&column).is_some_and(|gram| self.tableau.enter(column, gram)))
    }

    /// The products of `column`, and of others that may enter soon, with all columns.
    fn compute(&mut self, column: usize) -> Result<(), Error> {
        let d = self.all.len();
        let mut batch = self.likely(column)?;
        if (self.grams.len() + batch.len()) * d * size_of::<f64>() > MOST_BYTES {
            self.grams.clear();
            batch.truncate(1);
        }
        let mut products = vec![0.0; batch.len() * d];
        self.columns.products(&self.all, &batch, &mut products)?;
        self.grams.extend(batch.into_iter().zip(products.chunks_exact(d).map(<[f64]>::to_vec)));
        Ok(())
    }

    /// `column`, and columns without products yet that would enter after it, were there no others than the
    /// set and the candidates.
    fn likely(&self, column: usize) -> Result<Vec<usize>, Error> {
        let gains = self.tableau.gains();
        let mut candidates: Vec<usize> =
            (0..gains.len()).filter(|&other| gains[other] > 0.0 && other != column).collect();
        if candidates.len() > CANDIDATES {
            let larger_first = |a: &usize, b: &usize| gains[*b].total_cmp(&gains[*a]).then(a.cmp(b));
            candidates.select_nth_unstable_by(CANDIDATES, larger_first);
            candidates.truncate(CANDIDATES);
        }
        candidates.push(column);
        candidates.sort_unstable();
        let n_active = self.tableau.active.len();
        let some: Vec<usize> = self.tableau.active.iter().chain(&candidates).copied().collect();
        let mut ahead = self.tableau.of(&some);
        let mut batch = Vec::with_capacity(BATCH);
        let mut next = candidates.binary_search(&column).ok().map(|at| n_active + at);
        while let Some(at) = next {
            let entering = some[at];
            let mut products = vec![0.0; some.len()];
            match self.grams.get(&entering) {
                Some(gram) => products.iter_mut().zip(&some).for_each(|(product, &j)| *product = gram[j]),
                None => {
                    self.columns.products(&some, &[entering], &mut products)?;
                    batch.push(entering);
                }
            }
            if batch.len() == BATCH {
                break;
            }
            ahead.enter(at, &products);
            let gains = ahead.gains();
            let best = (0..some.len()).reduce(|a, b| if gains[b] > gains[a] { b } else { a });
            next = best.filter(|&best| gains[best] > 0.0);
        }
        Ok(batch)
    }

    /// Keeps the set where it is better than the best of its size.
    fn record(&mut self) -> bool {
        let Tableau { active, coefficients, objective, .. } = &self.tableau;
        let found =
            Found { objective: *objective, columns: active.clone(), coefficients: coefficients.clone() };
        let n_sizes = self.best.len();
        match self.best.get_mut(active.len()) {
            Some(best) if found.objective < best.objective - LEAST_GAIN * coefficients.len() as f64 => {
                *best = found;
                true
            }
            None if n_sizes == active.len() => {
                self.best.push(found);
                true
            }
            _ => false,
        }
    }

    /// Goes to the best set of `k` columns, or of as many as there are.
    fn restore(&mut self, k: usize) -> Result<(), Error> {
        let Some(best) = self.best.get(k.min(self.best.len() - 1)) else { return Ok(()) };
        if self.tableau.active.len() == best.columns.len()
            && self.tableau.objective <= best.objective + self.least_gain()
        {
            return Ok(());
        }
        self.rebuild(&best.columns.clone())
    }

    /// Goes to the set `columns`, by pivots from the empty one: without the rounding errors of others. Where
    /// it is stopped, the set is smaller.
    pub(super) fn rebuild(&mut self, columns: &[usize]) -> Result<(), Error> {
        self.tableau = self.start.clone();
        for &column in columns {
            if self.is_stopped() {
                break;
            }
            self.enter(column)?;
        }
        Ok(())
    }

    /// The set where it is now.
    pub(super) fn here(&self) -> Found {
        let Tableau { active, coefficients, objective, .. } = &self.tableau;
        Found { objective: *objective, columns: active.clone(), coefficients: coefficients.clone() }
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target, derive_seed};

    use super::*;

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
    }

    /// The target is a little of each of the columns, which have much in common.
    fn data(d: u64, seed: u64) -> Result<Dataset, Error> {
        let shared = noise(40, 1000 * seed + 500);
        let own = |j| noise(40, 1000 * seed + j);
        let table: Vec<Vec<f64>> =
            (0..d).map(|j| own(j).iter().zip(&shared).map(|(own, all)| own + all).collect()).collect();
        let target = (0..40).map(|i| table[0][i] - table[1][i] + 0.8 * table[2][i] - 0.7 * table[3][i]);
        let target = target.zip(noise(40, 1000 * seed + 600)).map(|(y, e)| y + 0.4 * e).collect();
        Dataset::new(DenseColumns::from_columns(&table)?, Target::real(target)?)
    }

    /// Where a column cannot enter, the next best exchange is made, and the set before is restored if there
    /// is none.
    #[test]
    fn an_exchange_that_fails_is_not_the_last() -> Result<(), Error> {
        let (data, context) = (data(6, 1)?, Context::default());
        let columns = LinearColumns::new(&data, "best-subset", &context)?;
        let mut search = Search::new(&columns, &context);
        let gains = search.tableau.gains();
        let by_gain = fewest_core::order::descending(&gains);
        let (first, second, last) = (by_gain[0], by_gain[1], by_gain[5]);
        assert!(search.enter(last)?);
        // As if nothing were left of the best column.
        search.grams.insert(first, vec![0.0; 6]);
        search.exchange()?;
        assert_eq!(search.here().columns, [second]);
        assert!((search.here().objective - (0.5 - gains[second])).abs() < 1e-12);
        Ok(())
    }

    /// A search that ends with its passes does not say that nothing better was found.
    #[test]
    fn passes_that_run_out_are_told() -> Result<(), Error> {
        let (mut unsettled, context) = (0, Context::default());
        for seed in 0..20 {
            let data = data(60, seed)?;
            let columns = LinearColumns::new(&data, "best-subset", &context)?;
            let settled = |most| -> Result<bool, Error> {
                let mut search = Search::new(&columns, &context);
                search.run(8, 2, most)?;
                Ok(search.is_settled)
            };
            unsettled += usize::from(!settled(1)?);
            assert!(settled(1000)?);
        }
        assert!(unsettled > 0);
        Ok(())
    }
}
