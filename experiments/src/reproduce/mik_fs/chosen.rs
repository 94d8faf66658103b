//! Methods of Figure 1 with what the number of features does not decide chosen on the training half.

use fewest::core::{Budget, Context, Dataset, Error, Selection, Selector, derive_seed};
use fewest::eval::{Accuracy, Experiment, KFold, Learner};
use fewest::registry::{Parameters, Registry};

use super::contenders::FOLDS;

/// A method and what it may choose from.
pub(super) struct Choice {
    /// Its name in the paper.
    pub name: &'static str,
    /// The id in the registry.
    pub id: &'static str,
    /// Parameters that are given.
    pub fixed: &'static [&'static str],
    /// Parameters to choose one of, as `NAME=VALUE`; of those that are as good the first. Without any, the
    /// method stays as it is.
    pub choices: &'static [&'static str],
}

/// Chooses by the mean accuracy of `learner` over the numbers of features `ks`, in folds of the samples.
pub(super) struct Chosen<'a> {
    pub choice: &'a Choice,
    pub learner: &'a dyn Learner,
    pub ks: &'a [usize],
}

impl Chosen<'_> {
    fn build(&self, chosen: Option<&&str>) -> Result<Box<dyn Selector>, Error> {
        let method = Registry::standard().find(self.choice.id)?;
        let parameters: Vec<&str> = self.choice.fixed.iter().chain(chosen).copied().collect();
        Ok(method.build(&Parameters::parse(method, &parameters)?)?.into_selector())
    }

    fn score(&self, selector: &dyn Selector, data: &Dataset, context: &Context<'_>) -> Result<f64, Error> {
        let experiment = Experiment {
            label: String::new(),
            selector,
            learner: self.learner,
            splitter: &KFold { folds: FOLDS, stratified: true },
            metrics: &[&Accuracy],
            ks: self.ks.to_vec(),
            nested: true,
            prepare: None,
        };
        let inside = Context { seed: derive_seed(context.seed, 7), progress: None, ..*context };
        let evaluation = experiment.run(data, &inside).map_err(|error| Error::Numerical {
            what: "the cross-validation of a parameter",
            hint: error.to_string(),
        })?;
        if evaluation.out_of_time {
            return Err(Error::Stopped { before: "a parameter was chosen" });
        }
        let summaries = evaluation.summaries();
        Ok(summaries.iter().map(|summary| summary.mean).sum::<f64>() / summaries.len().max(1) as f64)
    }
}

impl Selector for Chosen<'_> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let mut best = (f64::NEG_INFINITY, None);
        for chosen in self.choice.choices {
            let score = self.score(&*self.build(Some(chosen))?, data, context)?;
            if score > best.0 {
                best = (score, Some(chosen));
            }
        }
        self.build(best.1)?.select(data, budget, context)
    }
}

#[cfg(test)]
mod tests {
    use fewest::core::{DenseColumns, Target};

    use super::*;
    use crate::reproduce::machines::linear_classifier;

    /// Of two widths the one with which the feature that tells the classes is found.
    #[test]
    fn the_choice_that_predicts_is_taken() {
        let wave = |step: usize| (0..48).map(|i| (i * step % 49) as f64 / 24.0 - 1.0).collect::<Vec<f64>>();
        let (noise, x) = (wave(17), wave(5));
        let labels: Vec<bool> = x.iter().map(|x| *x > 0.1).collect();
        let columns = DenseColumns::from_columns(&[noise, x]).unwrap();
        let data = Dataset::new(columns, Target::from_labels(&labels)).unwrap();
        let learner = linear_classifier(&[1.0]);
        let select = |choices: &'static [&'static str]| {
            let choice = Choice { name: "RFMKL", id: "rfmkl", fixed: &[], choices };
            let chosen = Chosen { choice: &choice, learner: &learner, ks: &[1] };
            chosen.select(&data, Budget::Count(1), &Context::default()).unwrap()
        };
        // So narrow a kernel sees no sample near another.
        let (narrow, wide) = (select(&["sigma=0.0001"]), select(&["sigma=1"]));
        assert_eq!(wide.order, [1]);
        assert_ne!(narrow.order, wide.order);
        assert_eq!(select(&["sigma=0.0001", "sigma=1"]).order, wide.order);
        assert_eq!(select(&["sigma=1", "sigma=0.0001"]).order, wide.order);
        assert_eq!(select(&[]).order, wide.order);
    }
}
