//! Non-monotonic feature selection (Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature
//! selection*, Neural Networks 2015): the features whose support vector machine has the widest margin, as a
//! convex min-max.

mod discrete;
mod interior;
mod machines;
mod methods;
mod system;
mod units;
mod working;

use fewest_core::method::KernelWidth;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, RelaxationSummary, Selection, SolverReport, Status, choice,
    options, words,
};

use discrete::Partition;
use interior::Stop;
use machines::Machines;
pub use methods::{Nmmkl, Nmmklr};
use units::Units;

words! {
    /// What is done to numeric features under the linear kernel of [`Nmmkl`] and [`Nmmklr`].
    #[derive(Default)]
    pub enum FeatureScaling {
        /// Mean 0, standard deviation 1 (dividing by n).
        #[default]
        Standard = "standard",
        /// To `[−1, 1]`.
        Range = "range",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// What has a weight of its own.
    #[derive(Default)]
    pub enum WeightUnit {
        /// Every feature.
        #[default]
        Feature = "feature",
        /// Every group of features: they are selected together or not at all.
        Group = "group" selects_groups,
    }
}

choice! {
    /// The kernel of each feature.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum FeatureKernel {
        /// `xᵢ xᵢᵀ`, as in the paper.
        Linear {
            /// Numeric features to mean 0 and standard deviation 1, to [-1, 1], or as they are.
            scaling: FeatureScaling = FeatureScaling::Standard;
        } = "linear",
        /// `exp(−(x − x′)² / (2σ²))` of the standardised feature, through its low-rank factor `F`:
        /// `τ = ‖Fᵀ(α ∘ y)‖²`.
        Gaussian {
            /// Width σ of the Gaussian kernel on standardised features; median: the median distance of each.
            sigma: KernelWidth = KernelWidth::Value(1.0);
            /// What the factor of a Gaussian kernel may leave of its trace, as a share.
            factor_tolerance: f64 = 1e-6, ProperFraction;
        } = "gaussian",
    }
}

/// Costs of the features, in place of a count.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureCosts {
    /// The cost of each feature, above 0.
    pub costs: Vec<f64>,
    /// What all selected features may cost in sum, above 0.
    pub limit: f64,
}

options! {
    /// What [`Nmmkl`] and [`Nmmklr`] share.
    #[derive(Debug, Clone)]
    pub struct NonMonotonic {
        /// Kernel of each numeric feature; categories get an indicator for each level.
        ///
        /// The indicators are scaled as a standardised feature.
        pub kernel: FeatureKernel = FeatureKernel::default();
        /// group: features of a group (--groups) share a weight, and are selected together.
        pub weights: WeightUnit = WeightUnit::Feature;
        /// Costs of the features and what may be spent, `Σ cᵢ pᵢ ≤ B`, in place of `Σ pᵢ = m`: then the
        /// budget must be [`Budget::Auto`]. A group costs as much as its features.
        pub feature_costs: Option<FeatureCosts> = None, hidden;
        /// Swap features one for one as long as the machine gets better.
        pub refine: bool = false;
        /// Duality gap to reach, relative to the primal objective.
        pub tolerance: f64 = 1e-8, Positive;
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
    /// The dual value of the relaxation, Eq. (8) or (20): no set of features within the budget has a smaller
    /// `ω`.
    pub objective: f64,
    /// The duality gap, relative to the primal value.
    pub gap: f64,
    /// How the relaxation ended.
    pub status: Status,
    /// Newton steps.
    pub steps: usize,
    /// `𝒜`: features with `τ > λ` (for a cost of 1), largest first.
    pub above: Vec<usize>,
    /// `ℬ`: features with `τ = λ` to 1e-6, relatively, or a weight between the bounds, by their weights,
    /// those of copies of a feature given to the first of them.
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
    fn check_costs(&self, n_features: usize) -> Result<(), Error> {
        let Some(FeatureCosts { costs, limit }) = &self.feature_costs else { return Ok(()) };
        if costs.len() != n_features {
            let found = costs.len();
            return Err(Error::ShapeMismatch { what: "costs of the features", expected: n_features, found });
        }
        if let Some(j) = costs.iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
            let value = format!("{} for feature {j} (counted from 0)", costs[j]);
            return Err(Error::parameter("costs", value, "above 0 and finite"));
        }
        if !(limit.is_finite() && *limit > 0.0) {
            return Err(Error::parameter("limit", limit, "above 0 and finite"));
        }
        Ok(())
    }

    /// What may be spent: the number of features, or the limit of the costs.
    fn limit(&self, budget: Budget) -> Result<f64, Error> {
        match (&self.feature_costs, budget) {
            (None, Budget::Count(_) | Budget::Auto) => Ok(budget.count(&[])? as f64),
            (Some(costs), Budget::Auto) => Ok(costs.limit),
            (Some(_), Budget::Count(count)) => {
                Err(Error::parameter("k", count, "auto: the costs decide how many features are selected"))
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
        self.check_costs(data.n_features())?;
        let grouped = self.weights == WeightUnit::Group;
        if grouped && data.feature_groups().is_none() {
            let expected = "feature, unless the data set has feature groups";
            return Err(Error::parameter("weights", "group", expected));
        }
        let limit = self.limit(budget)?;
        let feature_costs = self.feature_costs.as_ref().map(|given| given.costs.as_slice());
        let units = Units::new(data, self.kernel, grouped, feature_costs, context)?;
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
        let feature_costs = units.feature_costs();
        let relaxation = working::relax(machines, &units, limit, self.tolerance, context)?;
        let partition = Partition::new(&relaxation, &units, &feature_costs)?;
        let mut chosen = partition.choose(&feature_costs, limit);
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
        solution.gap = relaxation.relative_gap();
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
        let mut summary = RelaxationSummary::default();
        summary.objective = self.omega;
        summary.lower_bound = self.objective;
        summary.bound = self.bound;
        summary.n_above = self.above.len();
        summary.n_tied = self.tied.len();
        summary.n_below = self.n_below;
        summary.n_swaps = self.swaps;
        selection.notes.extend(notes(&summary));
        selection.relaxation = Some(summary);
        selection.note_missing_features(budget, "all others are constant, cost too much or have tau = 0");
        selection
    }
}

/// A summary in sentences.
fn notes(summary: &RelaxationSummary) -> Vec<String> {
    let RelaxationSummary { objective, lower_bound, bound, n_above, n_tied, n_below, n_swaps, .. } = summary;
    let mut notes = vec![
        format!(
            "omega, which is minimised, is {objective:.6} for these features, {:.4} times the lower bound for \
             all sets within the budget, {lower_bound:.6}",
            summary.ratio()
        ),
        format!("tau of the features: {n_above} above lambda, {n_tied} equal to it, {n_below} below"),
    ];
    match bound {
        Some(bound) if bound.is_finite() => {
            notes.push(format!("by Theorem 4, omega is at most {bound:.4} times its minimum over all sets"));
        }
        Some(_) => notes.push("Theorem 4 gives no bound here".to_owned()),
        None => {}
    }
    if *n_swaps > 0 {
        notes.push(format!("swaps of a feature for a better one: {n_swaps}"));
    }
    notes
}
