//! Support vector classification.

use fewest_core::method::Options;
use fewest_core::{Certificate, Columns, Context, Dataset, Error, derive_seed, options, order};
use fewest_kernels::VectorKernel;
use fewest_machines::{Encoding, PointRows};
use fewest_smo::{Calibration, Classifier, Pairwise, PlattScaling};

use super::{
    MachineGrid, MachineKernel, ROUGH, Space, check_stop, control, gamma_of, train_rows, visit_tests,
    visit_unseen,
};
use crate::learners::{ClassScoring, Learner, Model, Predictions};

options! {
    /// C-support vector classification on standardised features (Cortes and Vapnik 1995), one machine for
    /// each pair of classes and a vote.
    ///
    /// Cost and width are those with the most correct predictions in stratified cross-validation; at a tie
    /// the smaller width, then the smaller cost. Distances and products are computed once, and each machine
    /// starts from the one of the previous cost; what cannot be the best any more is not trained on the folds
    /// that are left. `O(n² d)`, and a multiple of `O(n²)` for each candidate and fold.
    ///
    /// Probabilities are sigmoids of the decision values of samples left out in cross-validation (Platt
    /// 2000), of several classes coupled (Wu, Lin and Weng 2004): their largest need not be that of the vote.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Target};
    /// use fewest_eval::{Learner, Predictions, SupportVectorClassifier};
    ///
    /// // A disc and its surroundings.
    /// let wave = |step: u32| (0..80).map(|i| f64::from(i * step % 79) / 39.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b) = (wave(1), wave(23));
    /// let inside: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a * a + b * b < 0.5).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b])?, Target::from_labels(&inside))?;
    /// let model = SupportVectorClassifier::default().fit(&data, &Context::default())?;
    /// let Predictions::Classes(codes) = model.predict(data.x())? else { unreachable!() };
    /// let hits = codes.iter().zip(&inside).filter(|(code, inside)| (**code == 1) == **inside).count();
    /// assert!(hits >= 77);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct SupportVectorClassifier {
        /// Kernel of standardised features.
        pub kernel: MachineKernel = MachineKernel::Gaussian;
        /// The grid from which cost and width are chosen.
        pub grid: MachineGrid = MachineGrid::default(), hidden;
        /// Duality gap of each machine, relative to its objective.
        pub tolerance: f64 = 1e-6, ProperFraction;
    }
}

/// A fitted [`SupportVectorClassifier`].
pub struct SupportVectorClassifierModel {
    encoding: Encoding,
    pub(super) rows: PointRows,
    /// The machines; `None` for a single class.
    pub machines: Option<Pairwise>,
    /// From the decision values of each machine to probabilities.
    pub(super) scalings: Vec<PlattScaling>,
    only: u32,
    /// The cost `C`.
    pub cost: f64,
}

impl SupportVectorClassifier {
    /// [`Learner::fit`], with the model's own type.
    ///
    /// # Errors
    /// For a target without classes, parameters out of range, values that are not finite; [`Error::Stopped`].
    pub fn train(
        &self,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<SupportVectorClassifierModel, Error> {
        self.train_with(data, true, context)
    }

    /// [`train`](Self::train), where `calibrated`; otherwise without what probabilities take.
    pub(super) fn train_with(
        &self,
        data: &Dataset,
        calibrated: bool,
        context: &Context<'_>,
    ) -> Result<SupportVectorClassifierModel, Error> {
        self.check()?;
        self.grid.check()?;
        let codes = data.classes(self.name())?.codes();
        let space = Space::new(data, self.kernel, context)?;
        let only = codes[0];
        let (kernel, cost) = self.choose(data, codes, &space, context)?;
        let (mut machines, mut scalings) = (None, Vec::new());
        if codes.iter().any(|code| *code != only) {
            let learner = Classifier { cost, ..Classifier::default() };
            let rows = space.rows(kernel)?;
            let trained = Pairwise::train(&learner, &*rows, codes, &[], &control(self.tolerance, context))?;
            for pair in &trained.machines {
                check_stop(pair.machine.dual.solution.status)?;
            }
            if calibrated {
                let folds = Calibration { seed: derive_seed(context.seed, 1), ..Calibration::default() };
                scalings =
                    trained.calibrate(&learner, &*rows, codes, &[], folds, &control(ROUGH, context))?;
                context.go_on("the support vector machine was calibrated")?;
            }
            machines = Some(trained);
        }
        let rows = PointRows::new(&space.points, kernel)?;
        Ok(SupportVectorClassifierModel { encoding: space.encoding, rows, machines, scalings, only, cost })
    }

    fn choose(
        &self,
        data: &Dataset,
        codes: &[u32],
        space: &Space,
        context: &Context<'_>,
    ) -> Result<(VectorKernel, f64), Error> {
        let (kernels, costs) = (self.grid.kernels(self.kernel, space.unit), self.grid.sorted_costs());
        let candidates = kernels.len() * costs.len();
        let splits = self.grid.splits(data, candidates, true, context)?;
        let mut chosen = (kernels[0], costs[0]);
        if splits.is_empty() {
            return Ok(chosen);
        }
        let mut most = 0;
        for (done, &kernel) in kernels.iter().enumerate() {
            context.report("choosing cost and width", done, kernels.len());
            let rows = space.shared_rows(kernel, context)?;
            let mut hits = vec![0_usize; costs.len()];
            let mut left: usize = splits.iter().map(|split| split.test.len()).sum();
            for split in &splits {
                // Each cost starts from the one before: those that cannot win, whatever comes, are given up
                // with all behind them.
                let floor = hits.iter().copied().max().unwrap_or(0);
                let may_win = |&hits: &usize| hits + left > most && hits + left >= floor;
                hits.truncate(hits.iter().rposition(may_win).map_or(0, |last| last + 1));
                if hits.is_empty() {
                    break;
                }
                left -= split.test.len();
                let own: Vec<u32> = split.train.iter().map(|&i| codes[i]).collect();
                if own.iter().all(|code| *code == own[0]) {
                    let same = split.test.iter().filter(|&&i| codes[i] == own[0]).count();
                    hits.iter_mut().for_each(|hits| *hits += same);
                    continue;
                }
                let train = train_rows(&*rows, split)?;
                let mut machines: Vec<Pairwise> = Vec::with_capacity(hits.len());
                for &cost in &costs[..hits.len()] {
                    let learner = Classifier { cost, ..Classifier::default() };
                    let near = machines.last();
                    let control = control(ROUGH, context);
                    let trained = Pairwise::train_from(&learner, &train, &own, &[], near, &control)?;
                    for pair in &trained.machines {
                        check_stop(pair.machine.dual.solution.status)?;
                    }
                    machines.push(trained);
                }
                visit_tests(&*rows, split, |i, row| {
                    for (hits, machine) in hits.iter_mut().zip(&machines) {
                        *hits += usize::from(machine.predict(row)? == codes[i]);
                    }
                    Ok(())
                })?;
            }
            for (&hits, &cost) in hits.iter().zip(&costs) {
                if hits > most {
                    most = hits;
                    chosen = (kernel, cost);
                }
            }
        }
        Ok(chosen)
    }
}

impl Learner for SupportVectorClassifier {
    fn name(&self) -> &'static str {
        "svc"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        Ok(Box::new(self.train(data, context)?))
    }

    fn fit_to_predict(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        Ok(Box::new(self.train_with(data, false, context)?))
    }

    fn scoring(&self) -> ClassScoring {
        ClassScoring::Probabilities
    }
}

impl Model for SupportVectorClassifierModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let mut codes = Vec::with_capacity(x.n_samples());
        visit_unseen(&self.encoding, &self.rows, x, |row| {
            codes.push(match &self.machines {
                Some(machines) => machines.predict(row)?,
                None => self.only,
            });
            Ok(())
        })?;
        Ok(Predictions::Classes(codes))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let classes = self.machines.as_ref().map_or(vec![self.only], |machines| machines.classes.clone());
        let mut scores: Vec<(u32, Vec<f64>)> =
            classes.into_iter().map(|code| (code, Vec::with_capacity(x.n_samples()))).collect();
        visit_unseen(&self.encoding, &self.rows, x, |row| {
            let shares = match &self.machines {
                Some(machines) => machines.probabilities(&self.scalings, row)?,
                None => vec![1.0],
            };
            scores.iter_mut().zip(shares).for_each(|((_, values), share)| values.push(share));
            Ok(())
        })?;
        Ok(scores)
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let pairs = self.machines.iter().flat_map(|machines| &machines.machines);
        let mut support: Vec<usize> =
            pairs.clone().flat_map(|pair| pair.machine.support.iter().map(|&k| pair.samples[k])).collect();
        order::sort_indices(&mut support);
        support.dedup();
        let certificate = pairs
            .map(|pair| pair.machine.dual.solution.certificate)
            .fold(Certificate::gap(0.0), Certificate::worse);
        vec![
            ("cost", self.cost),
            ("gamma", gamma_of(self.rows.0.kernel())),
            ("support vectors", support.len() as f64),
            ("gap", certificate.value()),
        ]
    }
}
