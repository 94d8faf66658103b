//! The quadratic program.

use fewest_solver::Error;

use crate::{KernelRows, SignedRows};

/// `minimise over β   ½ βᵀKβ + Σ_i (½ r_i β_i² − t_i β_i + ε_i |β_i|)`   subject to `Σ β_i = Δ`,
/// `l_i ≤ β_i ≤ u_i`: the duals of all support vector machines here, with the labels' signs in `β`.
///
/// By default `r = 0`, `ε = 0`, `Δ = 0`.
pub struct DualProblem<'a> {
    pub(crate) kernel: &'a dyn KernelRows,
    pub(crate) targets: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) absolute_weights: Vec<f64>,
    pub(crate) ridges: Vec<f64>,
    pub(crate) sum: f64,
}

fn check(
    name: &'static str,
    values: &[f64],
    n: usize,
    fine: fn(f64) -> bool,
    must: &str,
) -> Result<(), Error> {
    if values.len() != n {
        return Err(Error::ShapeMismatch { what: name, expected: n, found: values.len() });
    }
    match values.iter().position(|&value| !fine(value)) {
        Some(i) => Err(Error::parameter(name, format!("{} at {i} (counted from 0)", values[i]), must)),
        None => Ok(()),
    }
}

impl<'a> DualProblem<'a> {
    /// `K` by its rows, `t`, `l` and `u`. Bounds may be infinite where the ridge will not be 0.
    ///
    /// # Errors
    /// [`Error::TooFew`] without a variable; [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a
    /// target or a diagonal entry that is not finite, and unless `l_i ≤ u_i`.
    pub fn new(
        kernel: &'a dyn KernelRows,
        targets: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> Result<Self, Error> {
        let n = kernel.len();
        if n == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        check("targets", &targets, n, f64::is_finite, "finite")?;
        check("lower", &lower, n, |value| value < f64::INFINITY, "a number below infinity")?;
        check("upper", &upper, n, |value| value > f64::NEG_INFINITY, "a number above minus infinity")?;
        if let Some(i) = (0..n).find(|&i| lower[i] > upper[i]) {
            let expected = format!("at least the lower bound {}", lower[i]);
            return Err(Error::parameter("upper", format!("{} at {i} (counted from 0)", upper[i]), expected));
        }
        if let Some(i) = (0..n).find(|&i| !kernel.diagonal(i).is_finite()) {
            return Err(crate::rows::not_finite(i, i, kernel.diagonal(i)));
        }
        Ok(Self {
            kernel,
            targets,
            lower,
            upper,
            absolute_weights: vec![0.0; n],
            ridges: vec![0.0; n],
            sum: 0.0,
        })
    }

    /// The common form `minimise ½ aᵀQa + pᵀa` subject to `yᵀa = Δ`, `0 ≤ a_i ≤ C_i`, with `Q` and `y` in
    /// `rows`; its solution is `a_i = y_i β_i`.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`with_sum`](Self::with_sum).
    pub fn from_standard_form(
        rows: &'a SignedRows<'_>,
        linear: &[f64],
        costs: &[f64],
        sum: f64,
    ) -> Result<Self, Error> {
        let n = rows.len();
        check("linear", linear, n, f64::is_finite, "finite")?;
        check("costs", costs, n, |cost| cost >= 0.0, "at least 0")?;
        let targets = linear.iter().zip(rows.signs()).map(|(p, y)| -p * y).collect();
        let bounds = |sign: f64| -> Vec<f64> {
            let bound = |(&y, &cost): (&f64, &f64)| if y == sign { sign * cost } else { 0.0 };
            rows.signs().iter().zip(costs).map(bound).collect()
        };
        Self::new(rows, targets, bounds(-1.0), bounds(1.0))?.with_sum(sum)
    }

    /// Sets `ε`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for values below 0.
    pub fn with_absolute_weights(mut self, absolute_weights: Vec<f64>) -> Result<Self, Error> {
        check(
            "absolute_weights",
            &absolute_weights,
            self.n_variables(),
            |value| value >= 0.0 && value.is_finite(),
            "at least 0 and finite",
        )?;
        self.absolute_weights = absolute_weights;
        Ok(self)
    }

    /// Sets `r`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for values below 0.
    pub fn with_ridges(mut self, ridges: Vec<f64>) -> Result<Self, Error> {
        check(
            "ridges",
            &ridges,
            self.n_variables(),
            |value| value >= 0.0 && value.is_finite(),
            "at least 0 and finite",
        )?;
        self.ridges = ridges;
        Ok(self)
    }

    /// Sets `Δ`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless it is finite.
    pub fn with_sum(mut self, sum: f64) -> Result<Self, Error> {
        if !sum.is_finite() {
            return Err(Error::parameter("sum", sum, "finite"));
        }
        self.sum = sum;
        Ok(self)
    }

    /// `K` by its rows.
    pub fn kernel(&self) -> &'a dyn KernelRows {
        self.kernel
    }

    /// Number of variables.
    pub fn n_variables(&self) -> usize {
        self.targets.len()
    }

    /// `t`.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// `r`.
    pub fn ridges(&self) -> &[f64] {
        &self.ridges
    }

    /// `ε`.
    pub fn absolute_weights(&self) -> &[f64] {
        &self.absolute_weights
    }

    /// `l_i` and `u_i`.
    pub fn bounds(&self, i: usize) -> (f64, f64) {
        (self.lower[i], self.upper[i])
    }

    /// Whether `β_i` lies strictly between its bounds and is not at the breakpoint 0 of `|β_i|`.
    pub fn is_free(&self, i: usize, value: f64) -> bool {
        value > self.lower[i] && value < self.upper[i] && (value != 0.0 || self.absolute_weights[i] == 0.0)
    }

    /// Whether `β_i` is not 0 and at one of its bounds.
    pub fn is_bounded(&self, i: usize, value: f64) -> bool {
        value != 0.0 && (value == self.lower[i] || value == self.upper[i])
    }

    /// Bounds may be infinite only where there is a ridge.
    pub(crate) fn check_bounds(&self) -> Result<(), Error> {
        let endless =
            |i: &usize| self.ridges[*i] == 0.0 && !(self.lower[*i].is_finite() && self.upper[*i].is_finite());
        match (0..self.n_variables()).find(endless) {
            Some(i) => {
                let value = format!("0 at {i} (counted from 0)");
                Err(Error::parameter("ridges", value, "above 0 where a bound is infinite"))
            }
            None => Ok(()),
        }
    }

    /// `start` (zeros if empty) cut to the bounds.
    pub(crate) fn within_bounds(&self, start: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.n_variables();
        if !start.is_empty() {
            check("start", start, n, f64::is_finite, "finite")?;
        }
        let value = |i: usize| start.get(i).copied().unwrap_or(0.0);
        Ok((0..n).map(|i| value(i).clamp(self.lower[i], self.upper[i])).collect())
    }

    /// A feasible point: `start` (zeros if empty) projected, `β_i = clip(start_i + ν, l_i, u_i)`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a start that is not finite, for bounds under
    /// which no point has the sum `Δ`, and for an infinite bound without a ridge.
    pub fn feasible_start(&self, start: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.n_variables();
        self.check_bounds()?;
        let zeros;
        let start = if start.is_empty() {
            zeros = vec![0.0; n];
            &zeros
        } else {
            start
        };
        check("start", start, n, f64::is_finite, "finite")?;
        let (least, most): (f64, f64) = (self.lower.iter().sum(), self.upper.iter().sum());
        if !(least <= self.sum && self.sum <= most) {
            return Err(Error::parameter(
                "sum",
                self.sum,
                format!("between {least} and {most}, what the bounds allow"),
            ));
        }
        let moved = |shift: f64| -> Vec<f64> {
            (0..n).map(|i| (start[i] + shift).clamp(self.lower[i], self.upper[i])).collect()
        };
        let excess = |shift: f64| moved(shift).iter().sum::<f64>() - self.sum;
        let rounding = 1e-12 * (self.sum.abs() + moved(0.0).iter().map(|value| value.abs()).sum::<f64>());
        if excess(0.0).abs() <= rounding {
            return Ok(moved(0.0));
        }
        let mut width = 1.0_f64;
        while width < 1e300 && !(excess(-width) <= 0.0 && excess(width) >= 0.0) {
            width *= 4.0;
        }
        let (mut low, mut high) = (-width, width);
        for _ in 0..2_000 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        // The rounding error of the sum goes to any variable not at its bound.
        let mut point = moved(low);
        let mut missing = self.sum - point.iter().sum::<f64>();
        let inside = |i: &usize| point[*i] > self.lower[*i] && point[*i] < self.upper[*i];
        let (inside, at_bounds): (Vec<usize>, Vec<usize>) = (0..n).partition(inside);
        for i in inside.into_iter().chain(at_bounds) {
            if missing.abs() <= f64::EPSILON * (self.sum.abs() + point[i].abs()) {
                break;
            }
            let value = (point[i] + missing).clamp(self.lower[i], self.upper[i]);
            missing -= value - point[i];
            point[i] = value;
        }
        Ok(point)
    }
}
