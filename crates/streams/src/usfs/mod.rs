//! Unsupervised streaming feature selection: features that predict latent factors of the links.
//!
//! United States patent 10942939 is said to cover this method: it is compiled with the cargo feature `usfs`
//! only.

mod affinity;
mod factors;

use fewest_cd::CoordinateDescent;
use fewest_columns::standardise;
use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Arrives, Budget, Certificate, Context, Dataset, Error, FedByFeatures, Held, Selection, Selector,
    SolverReport, Status, StreamMethod, StreamSelector, options, state, stream_state,
};
use fewest_linalg::{add_scaled, dot};
use fewest_solver::{Control, L1, Quadratic, QuadraticSolver};

use self::affinity::Affinity;
pub use self::factors::LatentFactors;
use crate::arrivals::{Arrivals, Arrived, Outcome, Verdict};
use crate::penalty;

const METHOD: &str = "usfs";

/// Most iterations after an admission, for each factor.
const MOST_ITERATIONS: u64 = 1_000_000;

options! {
    /// Unsupervised streaming feature selection in social media (Li, Hu, Tang and Liu 2015; Section 5.1.5 of
    /// Li et al. 2016, Eq. 113): samples are linked, features arrive, and those stay that predict the latent
    /// factors of the links, with similar predictions for similar samples.
    ///
    /// **Notice**: United States patent 10942939 is said to cover this method. It is compiled with the cargo
    /// feature `usfs` only. Whether you may use it is for you to find out.
    ///
    /// ```text
    /// minimise over W   1/(2n) [ ‖X W − P‖²_F + ridge ‖W‖²_F + graph tr((XW)ᵀ L (XW)) ] + λ Σ |Wⱼₖ|
    ///
    /// L = D − S,   S_ij = exp(−‖x_i − x_j‖² / 2m)   over all pairs, of the m features held and the new one
    /// admit j   if  maxₖ |xⱼᵀ (X W − P + graph L X W)ₖ| / n > λ  at the weights of those held;
    ///           then W is optimised over all held, and features whose row is 0 leave
    /// score(j) = ‖Wⱼ‖₂
    /// ```
    ///
    /// As printed, without the factor `1/(2n)` but with `½`, the penalty is `n λ`. What is refused or leaves
    /// is gone, and a refusal changes nothing. A stream needs the `λ` of `Regularization::Value`; for a table
    /// `Ratio` is a share of the largest entry of `|XᵀP| / n`, and `Count` the smallest `λ` found that leaves
    /// at most so many features, each of which is a pass.
    ///
    /// The paper has the memberships of a mixed-membership stochastic blockmodel as factors. With
    /// `latent=links` they are the leading eigenvectors of the modularity matrix of the links instead, of
    /// length `√n`: a spectral estimate of the same communities. With `latent=target` the outputs of a real
    /// target are taken as they are, such as memberships found by another program.
    ///
    /// Features are standardised. Cost: `O(n² c)` for a refused feature with `c` factors, `O(n² m)` and `c`
    /// sparse regressions for another. Memory: the columns held, and `n²/2` distances.
    ///
    /// # Errors
    /// No links (or with `latent=target` no real target); a NaN or an infinity, naming the cell; sample
    /// weights; a category of more than two levels; an arriving feature with other samples, another target,
    /// or the name of a held one; more samples than there is memory for their pairs.
    ///
    /// ```
    /// use fewest_core::method::Regularization;
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Graph, Selector, Target};
    /// use fewest_streams::{LatentFactors, Usfs};
    ///
    /// // Two communities of linked samples; feature 1 tells them apart, the others are noise.
    /// let community = |i: usize| if i < 20 { 0.0 } else { 1.0 };
    /// let noise = |step: usize| (0..40).map(|i| (i * step % 41) as f64).collect();
    /// let own = (0..40).map(|i| 9.0 * community(i) + (i * 7 % 40) as f64 / 20.0).collect();
    /// let pairs = (0..40).flat_map(|i| (0..i).map(move |j| (j, i, 1.0)));
    /// let links: Vec<_> = pairs.filter(|&(j, i, _)| community(i) == community(j)).collect();
    /// let x = DenseColumns::from_columns(&[noise(11), own, noise(17)])?;
    /// let data = Dataset::new(x, Target::None)?.with_sample_graph(Graph::undirected(40, &links)?)?;
    /// let usfs = Usfs { latent: LatentFactors::Links { factors: 1 }, ..Usfs::default() };
    /// assert_eq!(usfs.select(&data, Budget::Count(1), &Context::default())?.order, [1]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Usfs {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Where the factors come from: the links between samples, or the outputs of a real target.
        pub latent: LatentFactors = LatentFactors::default();
        /// Weight of the squared coefficients.
        pub ridge: f64 = 0.1, NonNegative;
        /// Weight of similar predictions for similar samples.
        pub graph: f64 = 0.1, NonNegative;
        /// Duality gap to reach for each factor, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

impl Usfs {
    /// A selector to which features arrive. The links are those of the samples of the first feature.
    ///
    /// # Errors
    /// For options out of range, and for a penalty that is no number: it would take all features to find it.
    pub fn stream(&self) -> Result<UsfsStream, Error> {
        self.check()?;
        Ok(self.at(self.regularization.lambda_of_stream()?))
    }

    fn at(&self, lambda: f64) -> UsfsStream {
        UsfsStream {
            options: *self,
            lambda,
            arrivals: Arrivals::new(METHOD),
            n_samples: 0,
            factors: Vec::new(),
            kept: Vec::new(),
            columns: Vec::new(),
            weights: Vec::new(),
            affinity: Affinity::default(),
            fit: Fit { objective: 0.0, gap: 0.0, n_iterations: 0, status: Status::Converged },
            last: None,
        }
    }

    fn run(&self, data: &Dataset, lambda: f64, context: &Context<'_>) -> Result<Selection, Error> {
        FedByFeatures::new(|| Ok(self.at(lambda)), 1)?.select(data, Budget::Auto, context)
    }

    /// The largest entry of `|XᵀP| / n`: the smallest `lambda` that admits none.
    fn largest(&self, data: &Dataset, context: &Context<'_>) -> Result<f64, Error> {
        data.refuse_sample_weights(METHOD)?;
        let n = data.n_samples();
        let factors = self.latent.of(data, context)?;
        let products = fewest_columns::map_features(data, context, "products with factors", |_, column| {
            let mut values = column.to_vec(n);
            let varies = standardise(&mut values);
            let product = |factor: &[f64]| (dot(&values, factor) / n as f64).abs();
            Ok(if varies { factors.chunks_exact(n).map(product).fold(0.0, f64::max) } else { 0.0 })
        })?;
        let largest = products.into_iter().fold(0.0, f64::max);
        if largest > 0.0 {
            return Ok(largest);
        }
        let expected = "a table with a feature that has anything to do with the factors";
        Err(Error::parameter("lambda_ratio", "of a largest product of 0", expected))
    }
}

impl StreamMethod for Usfs {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for Usfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        budget.check(data.n_features())?;
        let largest = || self.largest(data, context);
        penalty::select(self.regularization, budget, context, largest, |lambda| {
            self.run(data, lambda, context)
        })
    }
}

/// How the last model was found.
#[derive(Clone, Copy)]
struct Fit {
    objective: f64,
    gap: f64,
    n_iterations: u64,
    status: Status,
}

state!(Fit { objective, gap, n_iterations, status });

/// [`Usfs`] on features that arrive.
pub struct UsfsStream {
    options: Usfs,
    lambda: f64,
    arrivals: Arrivals,
    n_samples: usize,
    /// `P`, factor after factor.
    factors: Vec<f64>,
    kept: Vec<(usize, String)>,
    /// `X` of the features held, standardised, one after the other.
    columns: Vec<f64>,
    /// `W`, row after row.
    weights: Vec<f64>,
    /// Of the samples, by the features held.
    affinity: Affinity,
    fit: Fit,
    last: Option<Verdict>,
}

impl UsfsStream {
    /// What came of the feature that arrived last.
    pub fn last(&self) -> Option<&Verdict> {
        self.last.as_ref()
    }

    /// The features held, in the order of arrival.
    pub fn kept(&self) -> Vec<usize> {
        self.kept.iter().map(|(feature, _)| *feature).collect()
    }

    /// The objective of the last model, with the `L` of its admission.
    pub fn objective(&self) -> f64 {
        self.fit.objective
    }

    fn n_factors(&self) -> usize {
        self.factors.len() / self.n_samples.max(1)
    }

    /// The largest absolute gradient of the loss with respect to a weight of `column`.
    fn gradient(&self, column: &[f64], affinity: &Affinity) -> f64 {
        let (n, c) = (self.n_samples, self.n_factors());
        let mut fitted = vec![0.0; n * c];
        for (x, row) in self.columns.chunks_exact(n).zip(self.weights.chunks_exact(c)) {
            for (out, &weight) in fitted.chunks_exact_mut(n).zip(row) {
                add_scaled(out, weight, x);
            }
        }
        if !self.kept.is_empty() && self.options.graph > 0.0 {
            let pulled = affinity.laplacian_product(&fitted, self.options.scale(self.kept.len() + 1));
            add_scaled(&mut fitted, self.options.graph, &pulled);
        }
        let product = |(own, factor): (&[f64], &[f64])| (dot(column, own) - dot(column, factor)).abs();
        let products = fitted.chunks_exact(n).zip(self.factors.chunks_exact(n)).map(product);
        products.fold(0.0, f64::max) / n as f64
    }

    /// The model of the features `columns`, from `start`.
    fn model(
        &self,
        columns: &[f64],
        affinity: &Affinity,
        start: &[f64],
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Fit), Error> {
        let (n, c) = (self.n_samples, self.n_factors());
        let m = columns.len() / n;
        let share = 1.0 / n as f64;
        let pulled = match self.options.graph > 0.0 {
            true => affinity.laplacian_product(columns, self.options.scale(m)),
            false => vec![0.0; columns.len()],
        };
        let mut gram = vec![0.0; m * m];
        for (i, x) in columns.chunks_exact(n).enumerate() {
            for (j, (other, pulled)) in
                columns.chunks_exact(n).zip(pulled.chunks_exact(n)).enumerate().take(i + 1)
            {
                let product = dot(x, other) + self.options.graph * dot(x, pulled);
                let ridge = if i == j { self.options.ridge } else { 0.0 };
                gram[i * m + j] = (product + ridge) * share;
                gram[j * m + i] = gram[i * m + j];
            }
        }
        let penalty = L1::new(self.lambda, m)?;
        let Usfs { tolerance, .. } = self.options;
        let control =
            Control { tolerance, max_iterations: MOST_ITERATIONS, progress: None, ..Control::from(context) };
        let mut weights = vec![0.0; m * c];
        let (mut gaps, mut scale, mut objective) = (0.0, 0.0, 0.0);
        let (mut n_iterations, mut status) = (self.fit.n_iterations, Status::Converged);
        for (k, factor) in self.factors.chunks_exact(n).enumerate() {
            let products = columns.chunks_exact(n).map(|x| dot(x, factor) * share).collect();
            let norm = dot(factor, factor) * share;
            let problem = Quadratic::new(gram.clone(), products, norm)?;
            let own: Vec<f64> = start.iter().skip(k).step_by(c).copied().collect();
            let found = CoordinateDescent::default().minimise(&problem, &penalty, &own, &control)?;
            weights.iter_mut().skip(k).step_by(c).zip(&found.coefficients).for_each(|(w, own)| *w = *own);
            gaps += found.certificate.value() * 0.5 * norm;
            scale += 0.5 * norm;
            objective += found.objective;
            n_iterations += found.iterations;
            status =
                if found.status.is_stopped() { found.status } else { Status::worst([status, found.status]) };
        }
        let gap = if scale > 0.0 { gaps / scale } else { 0.0 };
        Ok((weights, Fit { objective, gap, n_iterations, status }))
    }

    fn decide(&mut self, arrived: Arrived, context: &Context<'_>) -> Result<(), Error> {
        let (n, c, feature) = (self.n_samples, self.n_factors(), arrived.number);
        let mut column = arrived.values;
        let (mut value, mut outcome, mut left) = (0.0, Outcome::Irrelevant, Vec::new());
        if standardise(&mut column) {
            let affinity = self.affinity.with(&column);
            value = self.gradient(&column, &affinity);
            if value > self.lambda {
                let (mut columns, mut start) = (self.columns.clone(), self.weights.clone());
                columns.extend_from_slice(&column);
                start.resize(start.len() + c, 0.0);
                let (weights, fit) = self.model(&columns, &affinity, &start, context)?;
                let mut kept = std::mem::take(&mut self.kept);
                kept.push((feature, arrived.name));
                (self.columns, self.weights, self.fit) = (Vec::new(), Vec::new(), fit);
                for ((own, x), row) in
                    kept.into_iter().zip(columns.chunks_exact(n)).zip(weights.chunks_exact(c))
                {
                    // Of a model that was stopped a zero says nothing yet.
                    if fit.status.is_stopped() || row.iter().any(|weight| *weight != 0.0) {
                        self.kept.push(own);
                        self.columns.extend_from_slice(x);
                        self.weights.extend_from_slice(row);
                    } else {
                        left.push(own.0);
                    }
                }
                // Distances without those that left are summed again: differences would keep their rounding.
                self.affinity = if left.is_empty() { affinity } else { Affinity::of(&self.columns, n) };
                outcome = Outcome::Admitted;
            }
        }
        self.last = Some(Verdict { feature, outcome, value, left });
        self.arrivals.done();
        Ok(())
    }
}

impl Usfs {
    /// The divisor of squared distances over `m` features.
    fn scale(&self, m: usize) -> f64 {
        2.0 * m as f64
    }
}

impl StreamSelector for UsfsStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        let Self { arrivals, kept, factors, n_samples, options, affinity, .. } = self;
        let group = arrivals.take(
            arrived,
            |name| kept.iter().any(|(_, own)| own == name),
            |group| {
                *factors = options.latent.of(group, context)?;
                *n_samples = group.n_samples();
                *affinity = Affinity::none(*n_samples)?;
                Ok(())
            },
        )?;
        let instead = "leave it out, or make a column of 0 and 1 for each level";
        group.iter().try_for_each(|arrived| arrived.refuse_category(METHOD, instead))?;
        group.into_iter().try_for_each(|arrived| self.decide(arrived, context))
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        let n_arrived = self.arrivals.n_arrived();
        budget.check(n_arrived)?;
        let size = |row: &[f64]| row.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        let sizes = self.weights.chunks_exact(self.n_factors().max(1)).map(size);
        let weights = self.kept.iter().map(|(feature, _)| *feature).zip(sizes);
        let weights = weights.filter(|(_, size)| *size != 0.0).collect();
        let Fit { objective, gap, n_iterations, status } = self.fit;
        let mut selection = Selection::by_weight(weights, n_arrived, budget, status);
        selection.solver = Some(
            SolverReport::new("cd", status, objective, Certificate::gap(gap))
                .with_lambda(self.lambda)
                .with_iterations(n_iterations as usize),
        );
        selection.notes.push(format!(
            "the gap is that of the model of the {} features held, of {n_arrived} that arrived",
            self.kept.len()
        ));
        Ok(selection)
    }

    fn held(&self) -> Held {
        let numbers = self.factors.len() + self.columns.len() + self.weights.len() + self.affinity.size();
        Held::new(self.kept.len(), numbers)
    }

    fn name(&self, feature: usize) -> Option<&str> {
        self.kept.iter().find(|(own, _)| *own == feature).map(|(_, name)| name.as_str())
    }

    stream_state!(options; arrivals.target, arrivals.n_samples, arrivals.n_arrived, n_samples, factors, kept,
        columns, weights, affinity, fit, last);
}
