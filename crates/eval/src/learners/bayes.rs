//! Naive Bayes.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, FeatureKind, options, order};
use fewest_machines::{check_width, feature_names, finite_column};

use super::{ClassScoring, Learner, Model, Predictions, shares_of_logarithms};

options! {
    /// Naive Bayes: features are independent given the class, numeric ones normally distributed, categorical
    /// ones by their frequencies with one sample more of each level (Laplace).
    ///
    /// The class with the largest `log p(c) + Σ_j log p(x_j | c)` is predicted, the lowest code of several.
    /// Every variance in a class is raised by `smoothing` times the feature's variance over all samples, so
    /// that a class of one sample, or one in which a feature is constant, has a density, and rescaling a
    /// feature changes nothing. Features constant in training are left out. `O(n d)`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct NaiveBayes {
        /// Term added to each variance, relative to the variance of the feature over all samples.
        pub smoothing: f64 = 1e-9, Positive;
    }
}

/// The distribution of one feature in each class.
enum Distribution {
    Constant,
    /// Mean and variance in each class.
    Normal(Vec<(f64, f64)>),
    /// The levels, and the logarithm of each one's share in each class.
    Levels {
        levels: Vec<f64>,
        log_shares: Vec<Vec<f64>>,
    },
}

struct BayesModel {
    names: Vec<String>,
    /// Codes of the classes that occur, with the logarithm of their share.
    classes: Vec<(u32, f64)>,
    distributions: Vec<Distribution>,
}

impl Learner for NaiveBayes {
    fn name(&self) -> &'static str {
        "naive-bayes"
    }

    fn scoring(&self) -> ClassScoring {
        ClassScoring::Probabilities
    }

    fn fit(&self, data: &Dataset, _context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.check()?;
        let target = data.classes(self.name())?;
        let n = data.n_samples() as f64;
        let counts = target.counts();
        let occurring = target.occurring();
        let names = feature_names(data);
        let mut distributions = Vec::with_capacity(names.len());
        for j in 0..data.n_features() {
            let values = finite_column(data.x(), &names, j)?;
            if values.iter().all(|value| *value == values[0]) {
                distributions.push(Distribution::Constant);
                continue;
            }
            let of_class = |class: u32| -> Vec<f64> {
                let codes = target.codes().iter();
                codes.zip(&values).filter(|(code, _)| **code == class).map(|(_, value)| *value).collect()
            };
            distributions.push(if matches!(data.feature_kind(j), FeatureKind::Categorical { .. }) {
                let levels = order::distinct(values.clone());
                let shares = |class: &u32| {
                    let members = of_class(*class);
                    let share = |level: &f64| {
                        let count = members.iter().filter(|value| *value == level).count();
                        ((count + 1) as f64 / (members.len() + levels.len()) as f64).ln()
                    };
                    levels.iter().map(share).collect()
                };
                let log_shares = occurring.iter().map(shares).collect();
                Distribution::Levels { levels, log_shares }
            } else {
                let (_, overall) = moments(&values);
                if !overall.is_finite() {
                    let hint = format!("the values of `{}` are too large: rescale them", names[j]);
                    return Err(Error::Numerical { what: "a variance", hint });
                }
                let floor = (self.smoothing * overall).max(f64::MIN_POSITIVE);
                let class = |class: &u32| {
                    let (mean, variance) = moments(&of_class(*class));
                    (mean, variance + floor)
                };
                Distribution::Normal(occurring.iter().map(class).collect())
            });
        }
        let classes = occurring.iter().map(|&c| (c, (counts[c as usize] as f64 / n).ln())).collect();
        Ok(Box::new(BayesModel { names, classes, distributions }))
    }
}

/// Mean and variance (dividing by n).
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n)
}

impl BayesModel {
    /// `log p(c) + Σ_j log p(x_j | c)` of each sample, a vector over the classes.
    fn log_scores(&self, x: &dyn Columns) -> Result<Vec<Vec<f64>>, Error> {
        check_width(x, self.distributions.len())?;
        let start: Vec<f64> = self.classes.iter().map(|(_, log_share)| *log_share).collect();
        let mut scores = vec![start; x.n_samples()];
        for (j, distribution) in self.distributions.iter().enumerate() {
            let values = finite_column(x, &self.names, j)?;
            for (value, scores) in values.iter().zip(&mut scores) {
                match distribution {
                    Distribution::Constant => {}
                    Distribution::Normal(classes) => {
                        for (score, (mean, variance)) in scores.iter_mut().zip(classes) {
                            // Capped, so that a value far from every class does not outweigh all other
                            // features.
                            let distance = ((value - mean).powi(2) / variance).min(1e300);
                            *score -= 0.5 * (distance + variance.ln());
                        }
                    }
                    Distribution::Levels { levels, log_shares } => {
                        if let Some(level) = levels.iter().position(|level| level == value) {
                            for (score, shares) in scores.iter_mut().zip(log_shares) {
                                *score += shares[level];
                            }
                        }
                    }
                }
            }
        }
        Ok(scores)
    }
}

impl Model for BayesModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let scores = self.log_scores(x)?;
        let best = |scores: &Vec<f64>| {
            let best = (0..scores.len()).fold(0, |best, c| if scores[c] > scores[best] { c } else { best });
            self.classes.get(best).map_or(0, |(code, _)| *code)
        };
        Ok(Predictions::Classes(scores.iter().map(best).collect()))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let samples = self.log_scores(x)?;
        let of = |(at, (code, _)): (usize, &(u32, f64))| {
            (*code, samples.iter().map(|scores| scores[at]).collect())
        };
        let mut scores: Vec<(u32, Vec<f64>)> = self.classes.iter().enumerate().map(of).collect();
        shares_of_logarithms(&mut scores);
        Ok(scores)
    }
}
