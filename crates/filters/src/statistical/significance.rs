//! Features chosen by significance.

use fewest_core::method::{Built, Options, Parameter, Parameters, Relation};
use std::fmt::Debug;

use fewest_core::{
    Arrives, Budget, Context, Dataset, Error, FadingScore, Held, PassSelector, RankedStream, RunningScorer,
    SampleStream, Scorer, Scores, Selection, Selector, StreamMethod, StreamScorer, StreamSelector, options,
    q_values, score_parts, words,
};

words! {
    /// What is held below the level, over all features together.
    #[derive(Default)]
    pub enum Correction {
        /// The expected share of false discoveries among the chosen (Benjamini and Hochberg 1995): the
        /// features with the `i` smallest p-values, for the largest `i` with `p₍ᵢ₎ ≤ i α / m`.
        #[default]
        BenjaminiHochberg = "benjamini-hochberg",
        /// The probability of any false discovery (Bonferroni): `p ≤ α / m`.
        Bonferroni = "bonferroni",
    }
}

/// The features whose scores are significant at a level: the selector of a [`Scorer`] that gives p-values.
///
/// `m` counts the features that have a p-value. With `Budget::Auto` all significant features are chosen, with
/// `Budget::Count(k)` the best `k` of them, with `Budget::Threshold` those whose score is good enough too.
/// None at all is a legal answer.
///
/// # Errors
/// A level outside (0, 1); a scorer without p-values; what the scorer returns.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_filters::statistical::{Correction, FScore, Significant};
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 0.1, 9.0, 9.1], vec![5.0, 7.0, 6.0, 5.5]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// let significant = Significant::new(FScore, 0.05, Correction::BenjaminiHochberg);
/// assert_eq!(significant.select(&data, Budget::Auto, &Context::default())?.order, [0]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Significant<S> {
    scorer: S,
    alpha: f64,
    correction: Correction,
}

impl<S: Scorer> Significant<S> {
    /// Selects what is significant at `alpha`, in (0, 1), by the p-values of `scorer`.
    pub fn new(scorer: S, alpha: f64, correction: Correction) -> Self {
        Self { scorer, alpha, correction }
    }
}

options! {
    /// Whether features are selected by significance.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Significance {
        /// Select only features that are significant at this level.
        pub alpha: Option<f64> = None, ProperFraction, decides_count;
        /// Alpha bounds the share of false discoveries, or the probability of a single one.
        pub correction: Correction = Correction::BenjaminiHochberg, needs(alpha);
    }
}

/// A score that is a test.
pub trait Test: Scorer + Options {
    /// Where there are p-values; `None` where always.
    fn p_values_where() -> Option<Relation> {
        None
    }
}

/// A test as a method: the score, or with a level [`Significant`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tested<S> {
    /// The test.
    pub test: S,
    /// The level.
    pub significance: Significance,
}

impl<S: Test> Options for Tested<S> {
    fn parameters(&self) -> Vec<Parameter> {
        let mut list = self.test.parameters();
        for mut parameter in self.significance.parameters() {
            parameter.relations.extend(S::p_values_where());
            list.push(parameter);
        }
        list
    }

    fn set(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.test.set(parameters)?;
        self.significance.set(parameters)
    }

    fn check(&self) -> Result<(), Error> {
        self.test.check()?;
        self.significance.check()
    }
}

impl<S: Test + 'static> From<Tested<S>> for Built {
    fn from(tested: Tested<S>) -> Self {
        let Tested { test, significance: Significance { alpha, correction } } = tested;
        match alpha {
            Some(alpha) => Built::Selector(Box::new(Significant::new(test, alpha, correction))),
            None => Built::Scorer(Box::new(test)),
        }
    }
}

impl Correction {
    /// The p-values, corrected: those of at most α are significant at α. NaN stays NaN.
    fn corrected(self, p_values: &[f64]) -> Vec<f64> {
        let tested = p_values.iter().filter(|p| !p.is_nan()).count() as f64;
        match self {
            Self::Bonferroni => p_values.iter().map(|p| p * tested).collect(),
            Self::BenjaminiHochberg => q_values(p_values),
        }
    }
}

/// [`Significant`] on samples that arrive.
struct SignificantStream {
    scores: RankedStream,
    rule: Significant<()>,
}

impl StreamSelector for SignificantStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        self.scores.update(arrived, context)
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        let constant = self.scores.constant_features();
        budget.check(self.scores.n_features())?;
        self.rule.of_scores(&self.scores.scores()?, &constant, budget)
    }

    fn held(&self) -> Held {
        self.scores.held()
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        self.scores.save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.scores.restore(state)
    }
}

impl<S: Test + RunningScorer + Debug> StreamMethod for Tested<S> {
    const ARRIVES: Arrives = Arrives::Samples;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Options::check(self)?;
        let scores = RankedStream::new(&self.test)?;
        let Significance { alpha, correction } = self.significance;
        Ok(match alpha {
            None => Box::new(scores),
            Some(alpha) => {
                Box::new(SignificantStream { scores, rule: Significant { scorer: (), alpha, correction } })
            }
        })
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        match self.significance.alpha {
            None => self.test.fading(),
            Some(_) => Err(Error::Unsupported {
                method: "samples that lose weight",
                what: "a level of significance: weighted samples have no p-values here".to_owned(),
                instead:
                    "leave out alpha and choose a number of features, or take a window of the last samples"
                        .to_owned(),
            }),
        }
    }
}

impl<S: Scorer> Selector for Significant<S> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        Significance { alpha: Some(self.alpha), correction: self.correction }.check()?;
        let scores = self.scorer.score(data, context)?;
        if scores.status.is_stopped() {
            // A correction is for all tests.
            return Err(Error::Stopped { before: "every feature was tested" });
        }
        self.of_scores(&scores, &data.constant_features()?, budget)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        self.scorer.in_passes().is_some().then_some(self)
    }
}

impl<S: Scorer> PassSelector for Significant<S> {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        Significance { alpha: Some(self.alpha), correction: self.correction }.check()?;
        let Some(scorer) = self.scorer.in_passes() else {
            return Err(Error::Unsupported {
                method: "selection by significance",
                what: "reading rows in passes with this test".to_owned(),
                instead: "read them into one table".to_owned(),
            });
        };
        let (scores, constant) = score_parts(scorer, stream, context)?;
        budget.check(scores.values.len())?;
        self.of_scores(&scores, &constant, budget)
    }

    fn reads_parts(&self) -> bool {
        self.scorer.in_passes().is_some_and(StreamScorer::reads_parts)
    }

    fn times_in_memory(&self) -> u64 {
        self.scorer.in_passes().map_or(1, StreamScorer::times_in_memory)
    }

    fn sums_rows(&self) -> bool {
        self.scorer.in_passes().is_some_and(StreamScorer::sums_rows)
    }
}

impl<S> Significant<S> {
    /// What is significant by these scores, without the features that are `constant`.
    fn of_scores(&self, scores: &Scores, constant: &[usize], budget: Budget) -> Result<Selection, Error> {
        let Some(p_values) = &scores.p_values else {
            return Err(Error::Unsupported {
                method: "selection by significance",
                what: "a score without p-values".to_owned(),
                instead: "choose a number of features instead of alpha".to_owned(),
            });
        };
        let corrected = self.correction.corrected(p_values);
        let mut order = scores.ranking();
        order.retain(|&j| corrected[j] <= self.alpha && constant.binary_search(&j).is_err());
        let found = order.len();
        match budget {
            Budget::Count(k) => order.truncate(k),
            Budget::Threshold(threshold) if scores.higher_is_better => {
                order.retain(|&j| scores.values[j] >= threshold);
            }
            Budget::Threshold(threshold) => order.retain(|&j| scores.values[j] <= threshold),
            _ => {}
        }
        let mut selection = scores.selection(order);
        let tested = p_values.iter().filter(|p| !p.is_nan()).count();
        selection
            .notes
            .push(format!("{found} of {tested} tested features are significant at {:?}", self.alpha));
        Ok(selection)
    }
}
