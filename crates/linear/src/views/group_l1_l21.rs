//! Few features and few views for each output.

use fewest_columns::standardised_outputs;
use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, Target, ViewWeight, Views, options,
    room,
};
use fewest_newton::Start;
use fewest_solver::Solution;
use nalgebra::DMatrix;

use super::pieces::Pieces;
use super::splitting::{Point, ViewModel};
use crate::columns::LinearColumns;
use crate::penalised::{Penalised, Solved, each_budget, opened};
use crate::rows::class_outputs;

const METHOD: &str = "group-l1-l21";

options! {
    /// Joint group l1 and l2,1 norms (Wang, Nie and Huang 2013; Section 4.3.3 of Li et al. 2016, Eq. 110,
    /// with `F` given): few features, and for each output few of the views that they come from.
    ///
    /// ```text
    /// minimise over W   1/(2n) ‖Y − X W‖²_F + λ [Σⱼ ‖Wⱼ‖₂ + view_ratio Σ_views Σ_outputs ‖W_vk‖₂]
    ///
    /// score(k) = ‖W_k‖₂
    /// ```
    ///
    /// `W_vk` are the coefficients that the features of view `v` have for output `k`. As printed, without the
    /// factor `1/(2n)`, `α` is `2n λ` and `β` is `2n λ view_ratio`. With `view_ratio=0` it is
    /// [`L21`](crate::L21), whatever the views. Features are standardised; a category of more than two levels
    /// enters by its level indicators, which are one row together. Real outputs are standardised; of classes
    /// `Y` has a centred indicator each.
    ///
    /// [`Selection::views`] has the sum of the scores of the selected features of each view.
    ///
    /// It is solved by alternating directions, one copy of `W` for each of the two norms, to a duality gap:
    /// with `Θ = t (Y − XW)/n` such that `XᵀΘ = A + B`, no row of `A` longer than `λ` and no piece of `B`
    /// longer than `λ view_ratio`, the gap is the objective less `⟨Θ, Y⟩ − n/2 ‖Θ‖²`.
    ///
    /// Cost: the eigenvectors of `XᵀX` or `XXᵀ`, whichever is smaller, `m²(n + d)` with `m = min(n, d)`; then
    /// `4 d m c` for each of some hundred steps. Memory: two copies of the table and `m d`.
    ///
    /// # Errors
    /// No views; a target without numbers or classes, or that does not vary; a NaN or an
    /// infinity, naming the cell; no number of features where one is needed; parameters out of range; sample
    /// weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, Views};
    /// use fewest_linear::GroupL1L21;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let views = Views::new(3, vec![("image".to_owned(), vec![0, 1]), ("text".to_owned(), vec![2])])?;
    /// let x = DenseColumns::from_columns(&[a, b, c])?;
    /// let data = Dataset::new(x, Target::real(target)?)?.with_views(views)?;
    /// let selection = GroupL1L21::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert!(selection.views[0].weight > selection.views[1].weight);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GroupL1L21 {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Weight of the norms of views, relative to those of features.
        pub view_ratio: f64 = 1.0, NonNegative;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The sum of the scores of the selected features of each view.
pub(super) fn weigh_views(views: &Views, selection: &mut Selection) {
    let mut weights = vec![0.0; views.n_views()];
    for (&j, score) in selection.order.iter().zip(&selection.scores) {
        weights[views.of_feature()[j]] += score;
    }
    selection.views = ViewWeight::of(views.names(), &weights);
}

impl Selector for GroupL1L21 {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let views = data.needed_views(METHOD)?;
        let control = opened(data, budgets, self.tolerance, context)?;
        let outputs = match data.target() {
            target @ Target::Class(_) => class_outputs(target, METHOD, context)?,
            target => standardised_outputs(target, METHOD, context)?.concat(),
        };
        let columns = LinearColumns::new(data, METHOD, context)?;
        let features: Vec<usize> = columns.features().collect();
        let (n, p) = (data.n_samples(), features.len());
        let n_outputs = outputs.len() / n.max(1);
        let hint = "use fewer samples or features";
        drop(room("memory for the standardised table", &[2, n.max(n_outputs), p], METHOD, hint)?);
        let all: Vec<usize> = (0..p).collect();
        let x = DMatrix::from_vec(n, p, columns.gather(&all)?);
        let y = DMatrix::from_vec(n, n_outputs, outputs);
        let view_of = features.iter().map(|&j| views.of_feature()[j]).collect();
        let model = ViewModel::new(x, y, Pieces::new(&features, view_of, self.view_ratio), &control)?;
        let mut last: Option<Point> = None;
        let mut solve = |lambda: f64, start: Option<&Start>| {
            // With the multipliers of the solution before, unless it is the first of a budget.
            let before = last.take().filter(|_| start.is_some());
            let mut point = before.unwrap_or_else(|| model.start(lambda));
            let found = model.minimise(lambda, &mut point, &control);
            last = Some(point);
            Ok(Solved {
                solution: Solution {
                    // One row a column of the table after the other.
                    coefficients: found.w.transpose().data.into(),
                    objective: found.objective,
                    certificate: Certificate::gap(found.gap),
                    iterations: found.steps as u64,
                    status: found.status,
                },
                intercepts: vec![0.0; n_outputs],
            })
        };
        let mut problem = Penalised {
            columns: &columns,
            n_outputs,
            profiled: None,
            regularization: self.regularization,
            n_path: 1,
            is_signed: false,
            largest: model.largest(),
            solver: "consensus-admm",
            solve: &mut solve,
        };
        let mut select = |budgets: &[Budget]| problem.select_many(budgets, data.n_features(), context);
        let mut selections = match self.regularization {
            // Searches share solutions, but these start with the multipliers of the one before.
            Regularization::Count => {
                each_budget(budgets, context, |budget| Selection::only(select(&[budget])?))?
            }
            _ => select(budgets)?,
        };
        for selection in &mut selections {
            weigh_views(views, selection);
        }
        Ok(selections)
    }
}
