//! Sensitivity of probabilistic predictions to the permutation of a feature.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores, Target, derive_seed, options};
use fewest_kernels::exp_in_place;

use super::SensitivityNoise;
use super::divergence::Predictions;
use crate::elimination::{JUDGED, go_on_in_row};
use crate::kernel::KernelMatrix;
use crate::permutation::given;
use crate::{EliminationCriterion, Permutation, RecursiveElimination, Round, Trained, Training};
use fewest_linalg::dot;

/// Features scored side by side.
const BLOCK: usize = 64;

options! {
    /// The sensitivity of a machine's probabilistic predictions to a feature (Yang and Ong 2011, Eq. 12–19;
    /// for classes Shen, Ong, Li and Wilder-Smith 2008): the change of the predictions when the values of
    /// the feature are permuted among the samples. The trained machine is kept; only the points where it is
    /// evaluated are permuted. [`SensitivityNoise`] has the formulas.
    ///
    /// `f` at a permuted point is computed from the distances to the support vectors, of which one feature's
    /// part is exchanged (Section V-C): `O(m)` for `m` support vectors, so a round takes `O(d n m)`
    /// exponentials in addition to training, and `O(d n)` with a linear kernel. The noise is estimated on the
    /// training samples, as in Eq. (9) and (10), and so is Platt's sigmoid.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Sensitivity {
        /// The measure of differences.
        pub noise: SensitivityNoise = SensitivityNoise::Laplace, hidden;
        /// How a feature's values are permuted.
        pub permutation: Permutation = Permutation::Random { permutations: 1 };
        /// Given permutations instead of random ones: for feature `j` sample `i` takes the value of sample
        /// `given[j][i]`.
        pub given: Option<Vec<Vec<usize>>> = None, hidden;
    }
}

impl Sensitivity {
    /// One random permutation per round.
    pub fn new(noise: SensitivityNoise) -> Self {
        Self { noise, ..Self::default() }
    }

    /// The outputs of `machine` at its samples, sample `i` with the value of feature `at` of sample
    /// `sources[i]`.
    fn outputs(
        round: &Round<'_>,
        machine: &Trained,
        known: &Known,
        at: usize,
        sources: &[usize],
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        match round.kernel {
            KernelMatrix::Linear { .. } => {
                let mut outputs = known.outputs.clone();
                for values in round.coordinates(at) {
                    let weight: f64 =
                        known.support.iter().zip(&known.coefficients).map(|(&s, c)| c * values[s]).sum();
                    for ((output, &to), &from) in outputs.iter_mut().zip(&machine.samples).zip(sources) {
                        *output += weight * (values[machine.samples[from]] - values[to]);
                    }
                }
                Ok(outputs)
            }
            KernelMatrix::Gaussian { distances, gamma, .. } => {
                let pick =
                    |values: &[f64]| -> Vec<f64> { known.support.iter().map(|&s| values[s]).collect() };
                let columns: Vec<(&[f64], Vec<f64>)> =
                    round.coordinates(at).map(|values| (values, pick(values))).collect();
                let mut row = vec![0.0; known.support.len()];
                let output = |(&to, &from): (&usize, &usize)| {
                    go_on_in_row(known.support.len(), context)?;
                    let from = machine.samples[from];
                    let known_row = distances.row(to);
                    row.iter_mut().zip(&known.support).for_each(|(value, &s)| *value = known_row[s]);
                    for (values, support) in &columns {
                        let (own, new) = (values[to], values[from]);
                        if own != new {
                            // (new − s)² − (own − s)²
                            let (slope, offset) = (2.0 * (own - new), (new - own) * (new + own));
                            row.iter_mut().zip(support).for_each(|(value, s)| *value += slope * s + offset);
                        }
                    }
                    row.iter_mut().for_each(|value| *value = -gamma * value.max(0.0));
                    exp_in_place(&mut row);
                    Ok(dot(&row, &known.coefficients) + machine.machine.bias)
                };
                machine.samples.iter().zip(sources).map(output).collect()
            }
        }
    }

    /// Permutations that a score is averaged over.
    fn permutations(&self) -> usize {
        match self.permutation {
            Permutation::Random { permutations } if self.given.is_none() => permutations,
            _ => 1,
        }
    }

    /// As [`Permutation::sources`], or as given.
    fn sources(&self, j: usize, canonical: &[usize], seed: u64, draw: u64) -> Result<Vec<usize>, Error> {
        match &self.given {
            Some(permutations) => given(permutations, j, canonical.len()),
            None => Ok(self.permutation.sources(j, canonical, seed, draw)),
        }
    }
}

/// The outputs of a machine at its samples, and the data needed to compute them again.
struct Known {
    /// The samples that are support vectors, and their coefficients.
    support: Vec<usize>,
    coefficients: Vec<f64>,
    outputs: Vec<f64>,
}

impl Known {
    fn new(round: &Round<'_>, machine: &Trained, context: &Context<'_>) -> Result<Self, Error> {
        let (support, coefficients) = machine.support();
        let output = |row: &mut Vec<f64>, at: usize| {
            go_on_in_row(round.n_samples(), context)?;
            let i = machine.samples[at];
            row.resize(round.n_samples(), 0.0);
            round.kernel_row(i, row);
            let values: Vec<f64> = support.iter().map(|&s| row[s]).collect();
            Ok(dot(&values, &coefficients) + machine.machine.bias)
        };
        let outputs = fewest_parallel::map_with(machine.samples.len(), output);
        let outputs = outputs.into_iter().collect::<Result<Vec<f64>, Error>>()?;
        Ok(Self { support, coefficients, outputs })
    }
}

impl EliminationCriterion for Sensitivity {
    fn name(&self) -> &'static str {
        match self.noise {
            SensitivityNoise::Laplace => "sd-l",
            SensitivityNoise::Gaussian => "sd-g",
        }
    }

    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        // What a run that is stopped leaves is a sum over the machines and permutations that were done;
        // within the first, of the features that were done.
        self.check()?;
        let n_features = round.n_features();
        let mut sums: Option<Vec<f64>> = None;
        for (k, machine) in round.machines.iter().enumerate() {
            let scored = Known::new(round, machine, context).and_then(|known| {
                let predictions = Predictions::new(self.noise, machine, known.outputs.clone())?;
                Ok((known, predictions))
            });
            let (known, predictions) = match (scored, sums.take()) {
                (Err(Error::Stopped { .. }), Some(sums)) => return Err(round.stopped_with(sums)),
                (scored, before) => {
                    sums = before;
                    scored?
                }
            };
            let canonical: Vec<usize> = machine.samples.iter().map(|&i| round.canonical[i]).collect();
            for repetition in 0..self.permutations() {
                // Rounds, pairs of classes and repetitions draw from separate streams.
                let draw = [round.number, k, repetition]
                    .iter()
                    .fold(0, |stream, &number| derive_seed(stream, number as u64));
                let mut done = vec![f64::NAN; n_features];
                for first in (0..n_features).step_by(BLOCK) {
                    let block = first..n_features.min(first + BLOCK);
                    let scores = context.go_on(JUDGED).and_then(|()| {
                        fewest_parallel::try_map(block.len(), |at| {
                            let feature = round.feature(first + at);
                            let sources = self.sources(feature, &canonical, context.seed, draw)?;
                            let outputs =
                                Self::outputs(round, machine, &known, first + at, &sources, context)?;
                            predictions.score(&outputs)
                        })
                    });
                    match (scores, sums.take()) {
                        (Err(Error::Stopped { .. }), before) => {
                            return Err(round.stopped_with(before.unwrap_or(done)));
                        }
                        (scores, before) => {
                            sums = before;
                            done[block].copy_from_slice(&scores?);
                        }
                    }
                }
                let sums = sums.get_or_insert_with(|| vec![0.0; n_features]);
                for (sum, score) in sums.iter_mut().zip(done) {
                    *sum += score / self.permutations() as f64;
                }
            }
        }
        Ok(sums.unwrap_or_else(|| vec![0.0; n_features]))
    }
}

options! {
    /// The [`Sensitivity`] of all features to machines trained once (Yang and Ong 2011, Section IV): the
    /// first round of the elimination. Larger is better; a feature that no prediction depends on has 1
    /// (Laplace) or ½ (Gaussian) for a real target and 0 for classes, and a constant feature has that too.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_wrappers::{Sensitivity, SensitivityNoise, SensitivityScorer};
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| a + 0.5 * c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let scorer = SensitivityScorer::new(Sensitivity::new(SensitivityNoise::Laplace));
    /// let scores = scorer.score(&data, &Context::default())?;
    /// assert_eq!(scores.ranking(), [0, 2, 1]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct SensitivityScorer {
        /// The sensitivity.
        pub sensitivity: Sensitivity = Sensitivity::default();
        /// The machines.
        pub training: Training = Training::default();
    }
}

impl SensitivityScorer {
    /// With default machines.
    pub fn new(sensitivity: Sensitivity) -> Self {
        Self { sensitivity, ..Self::default() }
    }
}

impl Scorer for SensitivityScorer {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        let elimination = RecursiveElimination {
            training: self.training.clone(),
            ..RecursiveElimination::new(self.sensitivity.clone())
        };
        let outcome = elimination.run(data, data.n_features(), context)?;
        if outcome.rounds.is_empty() && outcome.importances.iter().all(|value| value.is_nan()) {
            return Err(Error::Stopped { before: JUDGED });
        }
        let constant = match (self.sensitivity.noise, data.target()) {
            (_, Target::Class(_)) => 0.0,
            (SensitivityNoise::Laplace, _) => 1.0,
            (SensitivityNoise::Gaussian, _) => 0.5,
        };
        let mut values = vec![constant; data.n_features()];
        for (&j, &importance) in outcome.ranking.iter().zip(&outcome.importances) {
            values[j] = importance;
        }
        Ok(Scores::descending(values).with_status(outcome.status))
    }
}
