//! Exact answers for few features: branch and bound over sets.

use fewest_core::order;

/// The least squares fit of a set of columns: `H = G_SS⁻¹` and the coefficients of each output.
#[derive(Clone)]
struct Fit {
    columns: Vec<usize>,
    inverse: Vec<f64>,
    coefficients: Vec<Vec<f64>>,
    objective: f64,
}

/// What was found.
pub(super) struct Bounded {
    /// A better set than the one known, and its objective.
    pub better: Option<(Vec<usize>, f64)>,
    /// No set of as many columns has a lower objective than this.
    pub lower: f64,
    /// Sets examined.
    pub n_sets: usize,
    /// Whether no set was left out.
    pub is_complete: bool,
}

/// The search for the best set of `k` columns.
struct Search<'a> {
    k: usize,
    most_sets: usize,
    is_stopped: &'a dyn Fn() -> bool,
    best: f64,
    found: Bounded,
}

/// The best set of `k` columns whose Gram matrix is positive definite with the inverse `inverse`, `d x d`,
/// where `products` are the products of the columns with each output and `known` the objective of a set.
///
/// The tree of Furnival and Wilson (1974): at a node the columns `S` with those that have to stay; the
/// objective of `S` itself bounds that of all its subsets. Its children let one column leave each, and keep
/// those whose turn was before: the most important ones first, so that large subtrees have large bounds. At
/// most `most_sets` sets are examined; of those left out the bounds count.
pub(super) fn search(
    inverse: &[f64],
    products: &[Vec<f64>],
    k: usize,
    known: f64,
    most_sets: usize,
    is_stopped: &dyn Fn() -> bool,
) -> Bounded {
    let d = products.first().map_or(0, Vec::len);
    let solve = |b: &Vec<f64>| -> Vec<f64> {
        inverse.chunks_exact(d).map(|row| row.iter().zip(b).map(|(h, b)| h * b).sum()).collect()
    };
    let coefficients: Vec<Vec<f64>> = products.iter().map(solve).collect();
    let explained: f64 =
        coefficients.iter().flatten().zip(products.iter().flatten()).map(|(w, b)| w * b).sum();
    let objective = 0.5 * (products.len() as f64 - explained);
    let all = Fit { columns: (0..d).collect(), inverse: inverse.to_vec(), coefficients, objective };
    let found = Bounded { better: None, lower: f64::INFINITY, n_sets: 0, is_complete: true };
    let mut search = Search { k, most_sets, is_stopped, best: known, found };
    search.visit(&all, &(0..d).collect::<Vec<usize>>());
    search.found.lower = search.found.lower.min(search.best);
    search.found
}

impl Fit {
    fn rise(&self, place: usize) -> f64 {
        let own = self.inverse[place * self.columns.len() + place];
        0.5 * self.coefficients.iter().map(|w| w[place] * w[place]).sum::<f64>() / own
    }

    fn without(&self, place: usize) -> Self {
        let s = self.columns.len();
        let row = &self.inverse[place * s..(place + 1) * s];
        let own = row[place];
        let mut inverse = Vec::with_capacity((s - 1) * (s - 1));
        for (i, other) in self.inverse.chunks_exact(s).enumerate().filter(|(i, _)| *i != place) {
            let share = row[i] / own;
            let entries = other.iter().zip(row).enumerate().filter(|(j, _)| *j != place);
            inverse.extend(entries.map(|(_, (value, b))| value - share * b));
        }
        let reduced = |w: &Vec<f64>| {
            let weight = w[place] / own;
            let entries = w.iter().zip(row).enumerate().filter(|(j, _)| *j != place);
            entries.map(|(_, (w, h))| w - weight * h).collect()
        };
        let mut columns = self.columns.clone();
        columns.remove(place);
        let objective = self.objective + self.rise(place);
        Self { columns, inverse, coefficients: self.coefficients.iter().map(reduced).collect(), objective }
    }
}

impl Search<'_> {
    /// Sets below this objective are worth looking for: better than the best by more than rounding.
    fn wanted(&self) -> f64 {
        self.best - 1e-12
    }

    /// All sets of `k` columns of `fit` that keep those not in `free`.
    fn visit(&mut self, fit: &Fit, free: &[usize]) {
        let too_many = fit.columns.len() - self.k;
        if too_many == 0 {
            self.found.n_sets += 1;
            self.offer(fit.columns.clone(), fit.objective);
            return;
        }
        if free.len() < too_many {
            return;
        }
        if self.found.n_sets >= self.most_sets || (self.is_stopped)() {
            self.found.is_complete = false;
            self.found.lower = self.found.lower.min(fit.objective);
            return;
        }
        self.found.n_sets += 1;
        let places: Vec<usize> =
            (0..fit.columns.len()).filter(|&place| free.contains(&fit.columns[place])).collect();
        let rises: Vec<f64> = places.iter().map(|&place| fit.rise(place)).collect();
        let by_rise = order::descending(&rises);
        if too_many == 1 {
            let Some(&least) = by_rise.last() else { return };
            let mut columns = fit.columns.clone();
            columns.remove(places[least]);
            self.offer(columns, fit.objective + rises[least]);
            return;
        }
        let free: Vec<usize> = by_rise.iter().map(|&at| fit.columns[places[at]]).collect();
        // The least important first: good sets are found early.
        for turn in (0..=free.len() - too_many).rev() {
            let at = by_rise[turn];
            if fit.objective + rises[at] < self.wanted() {
                self.visit(&fit.without(places[at]), &free[turn + 1..]);
            }
        }
    }

    fn offer(&mut self, columns: Vec<usize>, objective: f64) {
        if objective < self.wanted() {
            self.best = objective;
            self.found.better = Some((columns, objective));
        }
    }
}
