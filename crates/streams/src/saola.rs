//! Pairwise comparisons of features that arrive.

use fewest_core::method::Options;
use fewest_core::{
    Arrives, Budget, Context, Dataset, Error, Held, Selection, Selector, StreamMethod, StreamSelector,
    options, stream_state,
};

use crate::arrivals::{Outcome, Verdict, select_table};
use crate::candidates::{Candidate, Candidates};
use crate::independence::IndependenceTest;

options! {
    /// SAOLA, scalable and accurate online feature selection (Yu, Wu, Ding and Pei 2014): a feature that
    /// arrives is compared with the selected ones, each for itself.
    ///
    /// ```text
    /// refuse x           if p(x ⊥ y) > α
    /// refuse x           if a selected s has  D(s, y) ≥ D(x, y)  and  D(x, s) ≥ D(x, y)
    /// otherwise select x;  s leaves if  D(x, y) > D(s, y)  and  D(x, s) ≥ D(s, y)
    /// ```
    ///
    /// `D` is the dependence that the test measures, `|ρ|` or the mutual information; between two features
    /// it counts where it is significant at `α`, as in the program of the authors. So no selected feature is
    /// nearer to another one that says at least as much about the target than to the target. A feature that
    /// is refused removes none: as printed, whether it does depends on which comparison comes first. The
    /// paper has a threshold on the mutual information in place of the test by `g2`.
    ///
    /// Features are ranked by the p-value of the marginal test; the score is `D(x, y)`.
    ///
    /// Cost: `O(n s)` a relevant feature with `s` selected, `O(n)` any other. Memory: the selected columns.
    ///
    /// # Errors
    /// As of [`Osfs`](crate::Osfs).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_streams::Saola;
    ///
    /// let noise = |j: u64| (0..80).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let (a, b) = (noise(1), noise(2));
    /// let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    /// let echo = a.iter().zip(noise(3)).map(|(a, noise)| a + 0.5 * noise).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[echo, a, b])?, Target::real(y)?)?;
    /// let selection = Saola::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert!(!selection.order.contains(&0) && selection.order.len() == 2);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Saola {
        /// Test of independence and measure of dependence: correlations, or levels.
        pub test: IndependenceTest = IndependenceTest::FisherZ;
        /// P-value above which two variables count as independent.
        pub alpha: f64 = 0.05, ProperFraction;
    }
}

impl Saola {
    /// A selector to which features arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<SaolaStream, Error> {
        self.check()?;
        Ok(SaolaStream { selected: Candidates::new("saola", self.test, self.alpha, false) })
    }
}

impl StreamMethod for Saola {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for Saola {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One pass over the features serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        select_table(|| self.stream(), data, budgets, context)
    }
}

/// [`Saola`] on features that arrive.
pub struct SaolaStream {
    selected: Candidates,
}

impl SaolaStream {
    /// What came of the feature that arrived last.
    pub fn last(&self) -> Option<&Verdict> {
        self.selected.last.as_ref()
    }

    /// Selects or refuses `new`; also returns which features leave because of it.
    fn place(&mut self, new: Candidate) -> (Outcome, Vec<usize>) {
        let alpha = self.selected.alpha;
        let own = new.alone.dependence;
        let mut superfluous = Vec::new();
        for (at, other) in self.selected.kept.iter().enumerate() {
            let its = other.alone.dependence;
            let between = self.selected.pair(&new.variable, &other.variable);
            let Some(between) = between.filter(|between| !between.is_independent(alpha, false)) else {
                continue;
            };
            if between.dependence < own.min(its) {
                continue;
            }
            if its >= own {
                return (Outcome::Redundant, Vec::new());
            }
            superfluous.push(at);
        }
        // From the last, so that the places of the others stay.
        let mut left: Vec<usize> = superfluous.into_iter().rev().map(|at| self.selected.remove(at)).collect();
        left.reverse();
        self.selected.push(new);
        (Outcome::Admitted, left)
    }
}

impl StreamSelector for SaolaStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        for arrived in self.selected.take(arrived, context)? {
            let feature = arrived.number;
            let (mut value, mut outcome, mut left) = (1.0, Outcome::Irrelevant, Vec::new());
            if let Some((variable, alone)) = self.selected.alone(&arrived)? {
                value = alone.p_value.unwrap_or(f64::NAN);
                if !alone.is_independent(self.selected.alpha, false) {
                    (outcome, left) = self.place(Candidate { feature, name: arrived.name, variable, alone });
                }
            }
            self.selected.last = Some(Verdict { feature, outcome, value, left });
            self.selected.arrivals.done();
        }
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        let places: Vec<usize> = (0..self.selected.kept.len()).collect();
        self.selected.selection(&places, budget)
    }

    fn held(&self) -> Held {
        self.selected.held()
    }

    fn name(&self, feature: usize) -> Option<&str> {
        self.selected.name(feature)
    }

    stream_state!(selected.test, selected.alpha; selected.arrivals.target, selected.arrivals.n_samples,
        selected.arrivals.n_arrived, selected.judge, selected.kept, selected.correlations, selected.last,
        selected.status);
}
