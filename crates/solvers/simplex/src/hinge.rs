//! Hinge loss with a weighted l1 norm.

use fewest_core::{Error, Status, order};
use fewest_linalg::add_scaled;
use fewest_solver::{Control, Design, certificate};

use crate::{Cost, Joining, Program, Simplex, solve};

/// Columns that join at a time, at least.
const LEAST_JOINING: usize = 20;

/// ```text
/// minimise over w, b   Σ_j c_j |w_j| + Σ_i d_i max(0, 1 − y_i (⟨w, x_i⟩ + b))
/// ```
///
/// (Zhu, Rosset, Hastie and Tibshirani 2004), whose dual is `maximise Σ_i u_i` with `0 ≤ u_i ≤ d_i`,
/// `Σ_i u_i y_i = 0` and `|Σ_i u_i y_i x_ij| ≤ c_j` for all columns `j`. Columns whose condition is broken
/// join the program, until none is left (Dedieu, Mazumder and Wang 2022).
///
/// It begins where it ended: another [`minimise`](Self::minimise) with other penalties takes few steps.
pub struct L1Hinge<'a, O> {
    samples: &'a O,
    labels: Vec<f64>,
    costs: Vec<f64>,
    intercept: bool,
    simplex: Simplex,
}

/// A point of [`L1Hinge`], and its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct HingeOptimum {
    /// `w`, one weight a column.
    pub weights: Vec<f64>,
    /// `b`, the best for `w`: `y = sign(⟨w, x⟩ + b)`. 0 for a machine without one.
    pub intercept: f64,
    /// `Σ d_i ξ_i` at `w` and `b`.
    pub loss: f64,
    /// `u`, one multiplier a sample. It keeps all conditions, those of columns up to `gap` times the largest
    /// penalty.
    pub dual: Vec<f64>,
    /// The objective at `w` less `Σ u_i`, relative to the objective at `w = 0`, or where it is larger the
    /// violation of a dual condition relative to the largest penalty.
    pub gap: f64,
    /// How the computation ended.
    pub status: Status,
    /// Steps of the simplex method.
    pub steps: usize,
}

/// The program at some penalties.
struct Priced<'a, O> {
    samples: &'a O,
    labels: &'a [f64],
    costs: &'a [f64],
    intercept: bool,
    penalties: &'a [f64],
    at_zero: f64,
    tolerance: f64,
    found: Option<HingeOptimum>,
}

impl<'a, O: Design> L1Hinge<'a, O> {
    /// The machine of `samples` with `labels` −1 and 1, `costs` `d` above 0, with an intercept `b` or with
    /// `b = 0`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are a label and a cost a sample; [`Error::InvalidParameter`] for
    /// other labels or costs.
    pub fn new(samples: &'a O, labels: Vec<f64>, costs: Vec<f64>, intercept: bool) -> Result<Self, Error> {
        for (what, values) in [("labels", &labels), ("costs of errors", &costs)] {
            if values.len() != samples.n_samples() {
                let (expected, found) = (samples.n_samples(), values.len());
                return Err(Error::ShapeMismatch { what, expected, found });
            }
        }
        if let Some(label) = labels.iter().find(|label| label.abs() != 1.0) {
            return Err(Error::parameter("labels", label, "-1 or 1 for each sample"));
        }
        above_zero("costs", &costs)?;
        Ok(Self { samples, labels, costs, intercept, simplex: Simplex::default() })
    }

    /// The optimum for `penalties` `c`, one a column, above 0. `control` has the gap to reach.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of penalties; [`Error::InvalidParameter`] for a tolerance
    /// or a penalty out of range; [`Error::Numerical`] for features that are no numbers, and for features or
    /// costs that differ too much in size; [`Error::Stopped`] when stopped before there was any solution.
    pub fn minimise(&mut self, penalties: &[f64], control: &Control<'_>) -> Result<HingeOptimum, Error> {
        const SOLVED: &str = "the first linear program was solved";
        control.check()?;
        control.go_on(SOLVED)?;
        if penalties.len() != self.samples.n_columns() {
            let (expected, found) = (self.samples.n_columns(), penalties.len());
            return Err(Error::ShapeMismatch { what: "penalties", expected, found });
        }
        above_zero("penalties", penalties)?;
        let before = self.simplex.n_steps();
        let mut priced = Priced {
            samples: self.samples,
            labels: &self.labels,
            costs: &self.costs,
            intercept: self.intercept,
            penalties,
            at_zero: 0.0,
            tolerance: control.tolerance,
            found: None,
        };
        (priced.at_zero, _) = priced.loss(&vec![0.0; self.labels.len()]);
        if self.simplex.rows().len() == 0 {
            let costs: Vec<(usize, Cost)> = (0..self.labels.len()).map(|i| (i, priced.row_cost(i))).collect();
            self.simplex.add_rows(&costs, &[])?;
            if self.intercept {
                let column = penalties.len();
                self.simplex.add_columns(&[(column, priced.column_cost(column))], &self.labels)?;
            }
        } else {
            self.simplex.set_column_costs(|j| priced.column_cost(j))?;
        }
        let status = solve(&mut priced, &mut self.simplex, control)?;
        let mut found = priced.found.ok_or(Error::Stopped { before: SOLVED })?;
        found.steps = (self.simplex.n_steps() - before) as usize;
        found.status = match status {
            stopped if stopped.is_stopped() && found.gap > control.tolerance => stopped,
            _ => Status::by_certificate(found.gap, control.tolerance),
        };
        Ok(found)
    }
}

fn above_zero(name: &'static str, values: &[f64]) -> Result<(), Error> {
    match values.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
        Some(value) => Err(Error::parameter(name, value, "finite and above 0")),
        None => Ok(()),
    }
}

/// Comparisons pass over what is no number: a gap must not be small for that.
fn numbers(values: &[f64]) -> Result<(), Error> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(Error::Numerical {
        what: "hinge loss with an l1 norm",
        hint: "a feature has values that are no numbers, or features and costs differ too much in size"
            .to_owned(),
    })
}

impl<O: Design> Program for Priced<'_, O> {
    fn column_cost(&self, column: usize) -> Cost {
        // The last is the intercept.
        self.penalties.get(column).map_or(Cost::free(), |penalty| Cost::absolute(*penalty))
    }

    fn row_cost(&self, row: usize) -> Cost {
        Cost::hinge(1.0, -self.costs[row], 0.0)
    }

    fn entries(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut column = vec![0.0; self.labels.len()];
        for (out, &j) in out.chunks_exact_mut(rows.len()).zip(columns) {
            match self.penalties.get(j) {
                Some(_) => self.samples.gather(&[j], &mut column)?,
                None => column.fill(1.0),
            }
            for (out, &i) in out.iter_mut().zip(rows) {
                *out = self.labels[i] * column[i];
            }
        }
        Ok(())
    }

    fn price(&mut self, vertex: &Simplex) -> Result<Joining, Error> {
        let mut weights = vec![0.0; self.penalties.len()];
        for (j, value) in vertex.values() {
            if let Some(weight) = weights.get_mut(j) {
                *weight = value;
            }
        }
        let mut dual = vec![0.0; self.labels.len()];
        for (i, y) in vertex.duals() {
            dual[i] = (-y).clamp(0.0, self.costs[i]);
        }
        self.balance(&mut dual);
        let signed: Vec<f64> = dual.iter().zip(self.labels).map(|(u, y)| u * y).collect();
        let mut products = vec![0.0; self.penalties.len()];
        self.samples.correlations(&signed, &mut products)?;
        numbers(&products)?;
        let mut fitted = vec![0.0; self.labels.len()];
        let used: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
        let mut columns = vec![0.0; used.len() * fitted.len()];
        self.samples.gather(&used, &mut columns)?;
        for (&j, column) in used.iter().zip(columns.chunks_exact(fitted.len())) {
            add_scaled(&mut fitted, weights[j], column);
        }
        numbers(&fitted)?;
        let (loss, intercept) = self.loss(&fitted);
        let norm: f64 = weights.iter().zip(self.penalties).map(|(w, c)| c * w.abs()).sum();
        let (objective, bound) = (loss + norm, dual.iter().sum::<f64>());
        numbers(&[objective, bound])?;
        // A dual point above the objective is as wrong as one below.
        let gap_to = |bound: f64| certificate::relative((objective - bound).abs(), self.at_zero);
        let share = |j: usize| products[j].abs() / self.penalties[j];
        let most = (0..products.len()).map(share).fold(1.0, f64::max);
        let largest = self.penalties.iter().copied().fold(0.0, f64::max);
        let excess = products.iter().zip(self.penalties).fold(0.0_f64, |most, (v, c)| most.max(v.abs() - c));
        let as_it_is = gap_to(bound).max(certificate::relative(excess, largest));
        let mut gap = gap_to(bound / most);
        // Where penalties have very different sizes, rounding at a small one would shrink the whole dual.
        if as_it_is < gap {
            gap = as_it_is;
        } else {
            dual.iter_mut().for_each(|u| *u /= most);
        }
        let status = Status::Converged;
        self.found = Some(HingeOptimum { weights, intercept, loss, dual, gap, status, steps: 0 });
        if gap <= self.tolerance {
            return Ok(Joining::default());
        }
        let mut inside = vec![false; products.len() + 1];
        vertex.columns().for_each(|j| inside[j] = true);
        let mut columns: Vec<(f64, usize)> =
            (0..products.len()).filter(|&j| share(j) > 1.0 && !inside[j]).map(|j| (share(j), j)).collect();
        order::largest_first(&mut columns);
        columns.truncate(vertex.columns().len().max(LEAST_JOINING));
        Ok(Joining { rows: Vec::new(), columns: columns.into_iter().map(|(_, j)| j).collect() })
    }
}

impl<O: Design> Priced<'_, O> {
    /// The heavier class scaled down to `Σ u_i y_i = 0`, which the intercept asks for.
    fn balance(&self, dual: &mut [f64]) {
        if !self.intercept {
            return;
        }
        let mut sums = [0.0, 0.0];
        for (u, y) in dual.iter().zip(self.labels) {
            sums[usize::from(*y > 0.0)] += *u;
        }
        let least = sums[0].min(sums[1]);
        for (u, y) in dual.iter_mut().zip(self.labels) {
            let sum = sums[usize::from(*y > 0.0)];
            *u *= if sum > 0.0 { least / sum } else { 0.0 };
        }
    }

    /// The least `Σ d_i max(0, 1 − y_i (z_i + b))` over `b`, and that `b`, which is one of the breakpoints
    /// `y_i − z_i`; without an intercept it is 0.
    fn loss(&self, fitted: &[f64]) -> (f64, f64) {
        let intercept = if self.intercept { self.best_intercept(fitted) } else { 0.0 };
        let hinge = |((y, z), d): ((&f64, &f64), &f64)| d * (1.0 - y * (z + intercept)).max(0.0);
        (self.labels.iter().zip(fitted).zip(self.costs).map(hinge).sum(), intercept)
    }

    fn best_intercept(&self, fitted: &[f64]) -> f64 {
        let kinks: Vec<f64> = self.labels.iter().zip(fitted).map(|(y, z)| y - z).collect();
        // The slope is minus the costs of all positive samples far to the left, and rises by a sample's cost
        // at its breakpoint.
        let mut slope: f64 =
            -self.labels.iter().zip(self.costs).map(|(y, d)| if *y > 0.0 { *d } else { 0.0 }).sum::<f64>();
        let mut best = 0.0;
        for i in order::ascending(&kinks) {
            best = kinks[i];
            slope += self.costs[i];
            if slope >= 0.0 {
                break;
            }
        }
        best
    }
}
