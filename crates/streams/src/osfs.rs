//! Online streaming feature selection, and its fast form.

use fewest_core::method::Options;
use fewest_core::{
    Arrives, Budget, Context, Dataset, Error, Held, Selection, Selector, Status, StreamMethod,
    StreamSelector, options, stream_state, words,
};

use crate::arrivals::{Outcome, Verdict, select_table};
use crate::candidates::{Candidate, Candidates};
use crate::independence::IndependenceTest;

options! {
    /// Online streaming feature selection (Wu, Yu, Wang and Ding 2010; Section 5.1.3 of Li et al. 2016):
    /// features that depend on the target are candidates, until others make them superfluous.
    ///
    /// ```text
    /// on arrival:   refuse x if p(x ⊥ y) > α
    /// then, for every candidate x, oldest first, the new one last:
    ///               x leaves if p(x ⊥ y | S) > α for a set S of 1 to max_conditioning other candidates
    /// ```
    ///
    /// (Step 2 as printed in the survey refuses relevant features; it is the other way round.) Once a
    /// candidate has left, it is no longer part of any set. A constant feature is refused.
    ///
    /// Features are ranked by the p-value of the marginal test, and their score is `|ρ|` or, with `g2`, the
    /// mutual information with the target in nats.
    ///
    /// Cost: with `c` candidates up to `O(cᵐ⁺¹)` tests for a feature that is admitted, `m =
    /// max_conditioning`; one test for any other. Memory: the columns of the candidates.
    ///
    /// # Errors
    /// As of [`AlphaInvesting`](crate::AlphaInvesting); more than two classes or a category of more than two
    /// levels without `test=g2`.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_streams::Osfs;
    ///
    /// let noise = |j: u64| (0..80).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let (a, b) = (noise(1), noise(2));
    /// let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    /// // Feature 0 says no more about the target than feature 1, from which it comes.
    /// let echo = a.iter().zip(noise(3)).map(|(a, noise)| a + 0.5 * noise).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[echo, a, b])?, Target::real(y)?)?;
    /// let selection = Osfs::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert!(!selection.order.contains(&0) && selection.order.len() == 2);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Osfs {
        /// Test of independence: of partial correlations, or of levels.
        pub test: IndependenceTest = IndependenceTest::FisherZ;
        /// P-value above which a feature counts as independent of the target.
        pub alpha: f64 = 0.05, ProperFraction;
        /// Most features of a set that makes another one superfluous.
        pub max_conditioning: usize = 3, Between(1, 8);
    }
}

words! {
    /// When candidates are tested against those that came later.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum OuterAnalysis {
        /// At the end: every candidate once, oldest first, against the others that are left. An answer before
        /// the end is what it would be if the stream ended there.
        #[default]
        End = "end",
        /// At each admission, as in the library of the authors: every older candidate, oldest first, against
        /// sets that contain the new one.
        Each = "each",
    }
}

options! {
    /// Fast online streaming feature selection (Wu, Yu, Ding, Wang and Zhu 2013; Section 5.1.3 of Li et al.
    /// 2016): as [`Osfs`], but a feature that arrives is tested against the candidates at once, and refused
    /// if it is superfluous, so that fewer sets are tried.
    ///
    /// ```text
    /// on arrival:   refuse x if p(x ⊥ y) > α, or p(x ⊥ y | S) > α for a set S of 1 to max_conditioning candidates
    /// outer analysis, at the end or at each admission:
    ///               a candidate x leaves if p(x ⊥ y | S) > α for a set S of the others
    /// ```
    ///
    /// Scores and order are as there.
    ///
    /// Cost: `O(cᵐ)` tests for a feature that is relevant, one for any other. Memory: the columns of the
    /// candidates; until the end no candidate leaves unless the outer analysis is `each`.
    ///
    /// # Errors
    /// As of [`Osfs`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_streams::FastOsfs;
    ///
    /// let noise = |j: u64| (0..80).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let (a, b) = (noise(1), noise(2));
    /// let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    /// let echo = a.iter().zip(noise(3)).map(|(a, noise)| a + 0.5 * noise).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[echo, a, b])?, Target::real(y)?)?;
    /// let selection = FastOsfs::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert!(!selection.order.contains(&0) && selection.order.len() == 2);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct FastOsfs {
        /// Test of independence: of partial correlations, or of levels.
        pub test: IndependenceTest = IndependenceTest::FisherZ;
        /// P-value above which a feature counts as independent of the target.
        pub alpha: f64 = 0.05, ProperFraction;
        /// Most features of a set that makes another one superfluous.
        pub max_conditioning: usize = 3, Between(1, 8);
        /// When candidates are tested against later ones: at the end, or at each admission.
        pub outer_analysis: OuterAnalysis = OuterAnalysis::End;
    }
}

/// What is tested when.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Analysis {
    /// All candidates at each admission.
    Whole,
    Fast(OuterAnalysis),
}

/// [`Osfs`] or [`FastOsfs`] on features that arrive.
pub struct OsfsStream {
    analysis: Analysis,
    most: usize,
    candidates: Candidates,
}

impl Osfs {
    /// A selector to which features arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<OsfsStream, Error> {
        self.check()?;
        let candidates = Candidates::new("osfs", self.test, self.alpha, true);
        Ok(OsfsStream { analysis: Analysis::Whole, most: self.max_conditioning, candidates })
    }
}

impl FastOsfs {
    /// A selector to which features arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<OsfsStream, Error> {
        self.check()?;
        let candidates = Candidates::new("fast-osfs", self.test, self.alpha, true);
        Ok(OsfsStream {
            analysis: Analysis::Fast(self.outer_analysis),
            most: self.max_conditioning,
            candidates,
        })
    }
}

impl StreamMethod for Osfs {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl StreamMethod for FastOsfs {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for Osfs {
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

impl Selector for FastOsfs {
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

impl OsfsStream {
    /// What came of the feature that arrived last.
    pub fn last(&self) -> Option<&Verdict> {
        self.candidates.last.as_ref()
    }

    /// The candidates, in the order of arrival; before the outer analysis, where that is at the end.
    pub fn candidates(&self) -> Vec<usize> {
        self.candidates.kept.iter().map(|kept| kept.feature).collect()
    }

    /// Admits or refuses `candidate`; also returns which features leave because of it.
    fn place(&mut self, candidate: Candidate, context: &Context<'_>) -> Option<(Outcome, Vec<usize>)> {
        let is_stopped = || context.stopped().is_some();
        let (most, new) = (self.most, self.candidates.kept.len());
        self.candidates.push(candidate);
        let older: Vec<usize> = (0..new).collect();
        if self.analysis != Analysis::Whole {
            match self.candidates.is_separated(new, &older, None, most, &is_stopped) {
                Some(false) => {}
                found => {
                    self.candidates.remove(new);
                    return found.map(|_| (Outcome::Redundant, Vec::new()));
                }
            }
        }
        let mut left = Vec::new();
        let n_tested = match self.analysis {
            Analysis::Whole => new + 1,
            Analysis::Fast(OuterAnalysis::Each) => new,
            Analysis::Fast(OuterAnalysis::End) => 0,
        };
        let mut at = 0;
        for _ in 0..n_tested {
            let newest = self.candidates.kept.len() - 1;
            let with = (self.analysis != Analysis::Whole).then_some(newest);
            let others: Vec<usize> =
                (0..=newest).filter(|&other| other != at && Some(other) != with).collect();
            match self.candidates.is_separated(at, &others, with, most, &is_stopped)? {
                true => left.push(self.candidates.remove(at)),
                false => at += 1,
            }
        }
        Some((Outcome::Admitted, left))
    }

    /// The places of the candidates that are left after the outer analysis.
    fn remaining(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.candidates.kept.len()).collect();
        if self.analysis != Analysis::Fast(OuterAnalysis::End) {
            return places;
        }
        for at in 0..self.candidates.kept.len() {
            let others: Vec<usize> = places.iter().copied().filter(|&other| other != at).collect();
            if self.candidates.is_separated(at, &others, None, self.most, &|| false) == Some(true) {
                places = others;
            }
        }
        places
    }
}

impl StreamSelector for OsfsStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        for arrived in self.candidates.take(arrived, context)? {
            let alpha = self.candidates.alpha;
            let feature = arrived.number;
            let (mut value, mut outcome, mut left) = (1.0, Outcome::Irrelevant, Vec::new());
            if let Some((variable, alone)) = self.candidates.alone(&arrived)? {
                value = alone.p_value.unwrap_or(f64::NAN);
                if !alone.is_independent(alpha, false) {
                    let candidate = Candidate { feature, name: arrived.name, variable, alone };
                    match self.place(candidate, context) {
                        Some(found) => (outcome, left) = found,
                        // Stopped within the analysis: what it has found so far stays.
                        None => {
                            self.candidates.status = context.stopped().unwrap_or(Status::Interrupted);
                            outcome = Outcome::Redundant;
                        }
                    }
                }
            }
            self.candidates.last = Some(Verdict { feature, outcome, value, left });
            self.candidates.arrivals.done();
        }
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        self.candidates.selection(&self.remaining(), budget)
    }

    fn held(&self) -> Held {
        self.candidates.held()
    }

    fn name(&self, feature: usize) -> Option<&str> {
        self.candidates.name(feature)
    }

    stream_state!(analysis, most, candidates.test, candidates.alpha; candidates.arrivals.target, candidates.arrivals.n_samples,
        candidates.arrivals.n_arrived, candidates.judge, candidates.kept, candidates.correlations, candidates.last,
        candidates.status);
}
