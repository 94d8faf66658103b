//! Non-monotonic feature selection (Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature selection*, Neural
//! Networks 2015): the features whose support vector machine has the widest margin, as a convex min-max.

mod discrete;
mod interior;
mod machines;
mod methods;
mod system;
mod units;
mod working;

use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, RelaxationSummary, Selection, SolverReport, Status,
};

use discrete::Partition;
use interior::Stop;
use machines::Machines;
pub use methods::{Nmmkl, Nmmklr};
use units::Units;

/// The kernel of each feature.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum FeatureKernel {
    /// `xᵢ xᵢᵀ`, as in the paper.
    #[default]
    Linear,
    /// `exp(−(x − x′)² / (2σ²))` of the standardised feature, through its low-rank factor `F`: `τ = ‖Fᵀ(α ∘ y)‖²`.
    Gaussian {
        /// `σ`, above 0.
        sigma: f64,
        /// What the factor may leave of the kernel's trace, relatively; range (0, 1).
        factor_tolerance: f64,
    },
}

/// What is done to numeric features under the linear kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// Mean 0, standard deviation 1 (dividing by n).
    #[default]
    Standard,
    /// To `[−1, 1]`.
    Range,
    /// Nothing.
    None,
}

/// Prices of the features, in place of a count.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// The price of each feature, above 0.
    pub prices: Vec<f64>,
    /// What all selected features may cost together, above 0.
    pub limit: f64,
}

/// What [`Nmmkl`] and [`Nmmklr`] share.
#[derive(Debug, Clone)]
pub struct NonMonotonic {
    /// The kernel of each feature. Categorical features always get an indicator for each level, scaled as a standardised
    /// feature. Default: linear.
    pub kernel: FeatureKernel,
    /// What is done to numeric features under the linear kernel. Default: standardised.
    pub scaling: Scaling,
    /// Whether the features of one group of the data set share a weight, and are selected together or not at all.
    /// Default: no.
    pub grouped: bool,
    /// Prices and what may be spent, `Σ cᵢ pᵢ ≤ B`, in place of `Σ pᵢ = m`: then the budget must be [`Budget::Auto`]. A
    /// group costs as much as its features. Default: none.
    pub prices: Option<Prices>,
    /// Whether features are swapped, one for one, as long as `ω` falls. Default: no.
    pub refine: bool,
    /// Duality gap to reach, relative to the primal objective. Default 1e-8; range above 0.
    pub tolerance: f64,
}

impl Default for NonMonotonic {
    fn default() -> Self {
        Self {
            kernel: FeatureKernel::default(),
            scaling: Scaling::default(),
            grouped: false,
            prices: None,
            refine: false,
            tolerance: 1e-8,
        }
    }
}

/// The relaxation's solution and the set made of it: everything that can be said of a selection.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NonMonotonicSolution {
    /// `α ∘ y`, or `α − α*`, of each machine: one machine for two classes or one output.
    pub coefficients: Vec<Vec<f64>>,
    /// `τ` of each feature (Eq. 9), of its group where features are grouped; 0 for constant ones.
    pub tau: Vec<f64>,
    /// The relaxed weight `p*` of each feature.
    pub weights: Vec<f64>,
    /// The multiplier `λ` of the budget.
    pub lambda: f64,
    /// The dual value of the relaxation, Eq. (8) or (20): no set of features within the budget has a smaller `ω`.
    pub objective: f64,
    /// The duality gap, relative to the primal value.
    pub gap: f64,
    /// How the relaxation ended.
    pub status: Status,
    /// Newton steps.
    pub steps: usize,
    /// `𝒜`: features with `τ > λ` (for a price of 1), largest first.
    pub above: Vec<usize>,
    /// `ℬ`: features with `τ = λ` to 1e-6, relatively, or a weight between the bounds, by their weights, those of copies of a feature given to the first of them.
    pub tied: Vec<usize>,
    /// Features of `𝒞`, which have `τ < λ`.
    pub n_below: usize,
    /// The features selected.
    pub selected: Vec<usize>,
    /// The value `ω` of the selected set (Eq. 3 or 19), to the same relative accuracy.
    pub omega: f64,
    /// The bound of Theorem 4 on `ω` by the best `ω` of any set; infinite where it says nothing, `None` where
    /// the matrices are too large.
    pub bound: Option<f64>,
    /// Swaps made by the refinement.
    pub swaps: usize,
}

impl NonMonotonic {
    fn check(&self, n_features: usize) -> Result<(), Error> {
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "above 0"));
        }
        if let FeatureKernel::Gaussian { factor_tolerance, .. } = self.kernel
            && !(factor_tolerance > 0.0 && factor_tolerance < 1.0)
        {
            return Err(Error::parameter("factor_tolerance", factor_tolerance, "above 0 and below 1"));
        }
        let Some(Prices { prices, limit }) = &self.prices else { return Ok(()) };
        if prices.len() != n_features {
            let found = prices.len();
            return Err(Error::ShapeMismatch { what: "prices of the features", expected: n_features, found });
        }
        if let Some(j) = prices.iter().position(|price| !(price.is_finite() && *price > 0.0)) {
            let value = format!("{} for feature {j} (counted from 0)", prices[j]);
            return Err(Error::parameter("prices", value, "above 0 and finite"));
        }
        if !(limit.is_finite() && *limit > 0.0) {
            return Err(Error::parameter("limit", limit, "above 0 and finite"));
        }
        Ok(())
    }

    /// What may be spent: the number of features, or the limit of the prices.
    fn limit(&self, budget: Budget) -> Result<f64, Error> {
        match (&self.prices, budget) {
            (None, Budget::Count(count)) => Ok(count as f64),
            (None, Budget::Auto) => {
                Err(Error::parameter("k", "auto", "a number, which the method cannot do without"))
            }
            (Some(prices), Budget::Auto) => Ok(prices.limit),
            (Some(_), Budget::Count(count)) => {
                Err(Error::parameter("k", count, "auto where prices decide how many features fit"))
            }
            _ => {
                Err(Error::parameter("threshold", "given", "left out: the method needs a number of features"))
            }
        }
    }

    /// Solves the relaxation for `machines` and makes a set of it.
    fn solve(
        &self,
        data: &Dataset,
        machines: &Machines,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<NonMonotonicSolution, Error> {
        budget.check(data.n_features())?;
        self.check(data.n_features())?;
        if self.grouped && data.feature_groups().is_none() {
            let expected = "feature, unless the data set has feature groups";
            return Err(Error::parameter("weights", "group", expected));
        }
        let limit = self.limit(budget)?;
        let prices = self.prices.as_ref().map(|prices| prices.prices.as_slice());
        let units = Units::new(data, self.kernel, self.scaling, self.grouped, prices, context)?;
        let d = data.n_features();
        let mut solution = NonMonotonicSolution {
            coefficients: vec![vec![0.0; machines.n]; machines.count],
            tau: vec![0.0; d],
            weights: vec![0.0; d],
            lambda: 0.0,
            objective: 0.0,
            gap: 0.0,
            status: Status::Converged,
            steps: 0,
            above: Vec::new(),
            tied: Vec::new(),
            n_below: units.n_constant,
            selected: Vec::new(),
            omega: 0.0,
            bound: None,
            swaps: 0,
        };
        if units.len() == 0 || machines.is_trivial() {
            return Ok(solution);
        }
        let prices = units.prices();
        let relaxation = working::relax(machines, &units, limit, self.tolerance, context)?;
        let partition = Partition::new(&relaxation, &units, &prices)?;
        let mut chosen = partition.choose(&prices, limit);
        if !chosen.is_empty() {
            let stop = Stop { tolerance: self.tolerance, enough: f64::INFINITY, context };
            let mut on_chosen = discrete::machines_on(machines, &units, &chosen, &stop)?;
            if self.refine {
                (solution.swaps, on_chosen) = discrete::refine(
                    machines,
                    &units,
                    &mut chosen,
                    limit,
                    on_chosen,
                    self.tolerance,
                    context,
                )?;
            }
            solution.omega = on_chosen.objective;
        }
        solution.bound = discrete::bound(&relaxation, &partition, &units, machines.ridge)?;
        let features = |set: &[usize]| -> Vec<usize> {
            set.iter().flat_map(|&u| units.units[u].features.iter().copied()).collect()
        };
        solution.above = features(&partition.above);
        solution.tied = features(&partition.tied);
        solution.n_below += features(&partition.below).len();
        solution.selected = features(&chosen);
        for (u, unit) in units.units.iter().enumerate() {
            for &j in &unit.features {
                solution.tau[j] = relaxation.squares[u];
                solution.weights[j] = relaxation.weights[u];
            }
        }
        solution.coefficients = relaxation.beta.chunks_exact(machines.n).map(<[f64]>::to_vec).collect();
        solution.lambda = relaxation.multiplier;
        solution.objective = relaxation.objective;
        solution.gap = relaxation.gap;
        solution.status = relaxation.status;
        solution.steps = relaxation.steps;
        Ok(solution)
    }
}

impl NonMonotonicSolution {
    /// As a selection, with what is known of it in [`Selection::relaxation`] and in the notes.
    fn into_selection(self, budget: Budget) -> Selection {
        let scores = self.selected.iter().map(|&j| self.tau[j]).collect();
        let mut selection = Selection::new(self.selected, scores, self.tau.len(), self.status);
        selection.objective = Some(self.omega);
        selection.solver = Some(
            SolverReport::new("interior-point", self.status, self.objective, Certificate::gap(self.gap))
                .with_lambda(self.lambda)
                .with_iterations(self.steps),
        );
        let summary = RelaxationSummary {
            objective: self.omega,
            lower_bound: self.objective,
            bound: self.bound,
            n_above: self.above.len(),
            n_tied: self.tied.len(),
            n_below: self.n_below,
            n_swaps: self.swaps,
        };
        selection.notes.extend(notes(&summary));
        selection.relaxation = Some(summary);
        selection.note_missing_features(budget, "no others vary, fit, or are of use");
        selection
    }
}

/// A summary in sentences.
fn notes(summary: &RelaxationSummary) -> Vec<String> {
    let RelaxationSummary { objective, lower_bound, bound, n_above, n_tied, n_below, n_swaps } = summary;
    let mut notes = vec![
        format!(
            "omega is {objective:.6} for these features and at least {lower_bound:.6} for any others within the budget: {:.4} times",
            summary.ratio()
        ),
        format!("features by tau: {n_above} above lambda, {n_tied} tied at it, {n_below} below"),
    ];
    match bound {
        Some(bound) if bound.is_finite() => {
            notes.push(format!("omega is at most {bound:.4} times the best there is, by Theorem 4"));
        }
        Some(_) => notes.push("the bound of Theorem 4 is infinite".to_owned()),
        None => {}
    }
    if *n_swaps > 0 {
        notes.push(format!("{n_swaps} features were swapped for better ones"));
    }
    notes
}
