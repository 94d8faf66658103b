//! Forward stepwise regression.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, Target, options};
use statrs::function::beta::checked_beta_reg;

use crate::sequential::better;
use crate::stop::UNJUDGED;
use crate::table::{Table, standardised};
use fewest_linalg::dot;

/// The share of a column's norm below which its residual is rounding: the column depends linearly on
/// earlier ones.
const DEPENDENT: f64 = 1e-8;

/// The share of the target's sum of squares below which the residual is rounding: everything is explained.
const EXPLAINED: f64 = 1e-20;

options! {
    /// Forward stepwise linear regression with an F-test to enter (Efroymson 1960; the stepwise baseline of
    /// Yang, Xu, Lyu and King 2015, Section 5.2):
    ///
    /// ```text
    /// F = (RSS − RSS₊ⱼ)/q / (RSS₊ⱼ / (n − p − q)),   enter the j with the smallest p-value P(F(q, n − p − q) ≥ F) if it is below p_enter
    /// ```
    ///
    /// with `p` coefficients so far, including the intercept, and `q` more for feature `j`: one for a number,
    /// the number of levels minus one for a category. The search stops with a note when no feature enters; no
    /// feature is removed again. A feature that depends linearly on those entered never enters. The score of
    /// a feature is its `F`, and ties of the p-value go to the larger `F`, then to the lower index.
    /// Features that explain the same up to rounding are equal.
    ///
    /// Features not yet entered are kept orthogonal to those entered: `O(n d)` per step, memory of the size
    /// of the data.
    ///
    /// # Errors
    /// A target that is not one real output or is constant; a NaN or an infinity (naming the cell); `p_enter`
    /// out of range; sample weights; `Budget::Threshold`. If stopped early, it returns the features selected
    /// so far, and [`Error::Stopped`] before the first.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_wrappers::Stepwise;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let noise = |i: usize| ((i * i) as f64).sin();
    /// let target = (0..60).map(|i| 2.0 * a[i] + c[i] + 0.5 * noise(i)).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = Stepwise::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Stepwise {
        /// P-value below which a feature enters.
        pub p_enter: f64 = 0.05, Fraction;
    }
}

/// A feature that has not entered: its residual after regression on those that have.
struct Candidate {
    feature: usize,
    /// Its columns, orthogonal to those entered.
    columns: Vec<Vec<f64>>,
    /// Their original norms.
    norms: Vec<f64>,
}

/// A feature's test.
struct Test {
    f: f64,
    p_value: f64,
    /// The share of the target's residual that the feature explains.
    explained: f64,
    /// An orthonormal basis of its columns.
    basis: Vec<Vec<f64>>,
}

/// Removes the direction `unit` from `column`, twice, to reduce rounding errors.
fn project_out(column: &mut [f64], unit: &[f64]) {
    for _ in 0..2 {
        let product = dot(column, unit);
        column.iter_mut().zip(unit).for_each(|(value, unit)| *value -= product * unit);
    }
}

impl Test {
    /// Whether it is the better one by more than rounding.
    fn beats(&self, other: &Self) -> bool {
        if self.basis.len() == other.basis.len() {
            // Then `F` and its p-value are monotone in the share explained, whose rounding error is known.
            return better(self.explained, other.explained);
        }
        self.p_value < other.p_value || self.p_value == other.p_value && self.f > other.f
    }
}

impl Candidate {
    /// An orthonormal basis of the residuals of the columns.
    fn basis(&self) -> Vec<Vec<f64>> {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for (column, norm) in self.columns.iter().zip(&self.norms) {
            let mut column = column.clone();
            basis.iter().for_each(|unit| project_out(&mut column, unit));
            let left = dot(&column, &column).sqrt();
            if left > DEPENDENT * norm {
                column.iter_mut().for_each(|value| *value /= left);
                basis.push(column);
            }
        }
        basis
    }

    /// The test of the feature, with `residual` the residual of the target after `used` coefficients; none
    /// if it depends linearly on those entered or too few samples are left.
    fn test(&self, residual: &[f64], used: usize) -> Option<Test> {
        let basis = self.basis();
        let q = basis.len();
        if q == 0 || used + q >= residual.len() {
            return None;
        }
        let gain: f64 = basis.iter().map(|unit| dot(unit, residual).powi(2)).sum();
        let mut rest = residual.to_vec();
        basis.iter().for_each(|unit| project_out(&mut rest, unit));
        let (q, freedom) = (q as f64, (residual.len() - used - q) as f64);
        let left = dot(&rest, &rest);
        let f = (gain / q) / (left / freedom);
        // The incomplete beta function of d₂ / (d₂ + d₁ F), which is accurate for small
        // probabilities too.
        let p_value = checked_beta_reg(0.5 * freedom, 0.5 * q, left / (left + gain)).ok()?;
        let explained = gain / (left + gain);
        (!f.is_nan()).then_some(Test { f, p_value, explained, basis })
    }
}

impl Selector for Stepwise {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        let most = match budget {
            Budget::Count(k) => k,
            Budget::Auto => data.n_features(),
            _ => {
                let expected = "left out: p_enter says what is good enough";
                return Err(Error::parameter("threshold", "given", expected));
            }
        };
        self.check()?;
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        let n = rows.len();
        let target = match data.target() {
            Target::Real(outputs) if outputs.n_outputs() == 1 => outputs.output(0).to_vec(),
            other => {
                let (method, expected) = ("stepwise", "one real output");
                return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
            }
        };
        let Table { varying, coordinates } = Table::new(data, &rows, n)?;
        let Some(mut residual) = standardised(target, n) else {
            return Err(Error::TooFew { what: "different target values", minimum: 2, found: 1 });
        };
        let ones = vec![1.0 / (n as f64).sqrt(); n];
        let prepare = |(&feature, values): (&usize, Vec<f64>)| {
            let mut columns: Vec<Vec<f64>> = values.chunks_exact(n).map(<[f64]>::to_vec).collect();
            columns.iter_mut().for_each(|column| project_out(column, &ones));
            let norms = columns.iter().map(|column| dot(column, column).sqrt()).collect();
            Candidate { feature, columns, norms }
        };
        let mut candidates: Vec<Candidate> = varying.iter().zip(coordinates).map(prepare).collect();
        let mut selection = Selection::new(Vec::new(), Vec::new(), data.n_features(), Status::Converged);
        let mut used = 1;
        let n_varying = candidates.len();
        while selection.order.len() < most && !candidates.is_empty() {
            if let Some(stopped) = context.stopped() {
                selection.status = stopped;
                break;
            }
            if dot(&residual, &residual) <= EXPLAINED * n as f64 {
                selection.notes.push("the features entered explain the target exactly".to_owned());
                break;
            }
            let tests: Vec<Option<Test>> =
                fewest_parallel::map(candidates.len(), |at| candidates[at].test(&residual, used));
            let mut best: Option<(usize, &Test)> = None;
            for (at, test) in tests.iter().enumerate() {
                if let Some(test) = test
                    && best.is_none_or(|(_, other)| test.beats(other))
                {
                    best = Some((at, test));
                }
            }
            let Some((at, test)) = best.filter(|(_, test)| test.p_value < self.p_enter) else { break };
            selection.order.push(candidates[at].feature);
            selection.scores.push(test.f.min(f64::MAX));
            used += test.basis.len();
            test.basis.iter().for_each(|unit| project_out(&mut residual, unit));
            candidates.remove(at);
            fewest_parallel::chunks(&mut candidates, 1, |_, candidate| {
                for column in candidate.iter_mut().flat_map(|candidate| &mut candidate.columns) {
                    test.basis.iter().for_each(|unit| project_out(column, unit));
                }
            });
            context.report("stepwise regression", selection.order.len(), most.min(n_varying));
        }
        if selection.status.is_stopped() && selection.order.is_empty() {
            return Err(UNJUDGED);
        }
        selection.objective = Some(dot(&residual, &residual) / n as f64);
        selection.note_constant_features(data.n_features() - n_varying);
        if selection.status == Status::Converged && selection.order.len() < most && !candidates.is_empty() {
            let note = format!("no other feature enters at p_enter = {}", self.p_enter);
            selection.notes.push(note);
        }
        Ok(selection)
    }
}
