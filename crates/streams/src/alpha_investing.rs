//! Alpha-investing: a budget of false discoveries that discoveries refill.

use fewest_columns::standardise;
use fewest_core::method::Options;
use fewest_core::{
    Arrives, Budget, Context, Dataset, Error, Held, Selection, Selector, Status, StreamMethod,
    StreamSelector, options, state, stream_state, words,
};
use fewest_linalg::{add_scaled, dot};

use crate::arrivals::{Arrivals, Arrived, Chosen, Outcome, Verdict, one_output, select_table};
use crate::tails;

const METHOD: &str = "alpha-investing";

/// What is left of a feature, in mean squares, if it follows from those selected but for rounding.
const DEPENDENT: f64 = 1e-10;

/// What is left of the target, as a share of it, if it is explained but for rounding.
const EXPLAINED: f64 = 1e-20;

words! {
    /// The p-value of a feature, given those selected.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum InvestingTest {
        /// The t test of its coefficient, with `n − s − 2` degrees of freedom; for a category the F test.
        #[default]
        T = "t",
        /// The likelihood ratio: `P(χ² ≥ n ln(RSS / RSS₊))`.
        Lr = "lr",
        /// `exp(−n (RSS − RSS₊) / (2 RSS))`, of the program of the authors: an upper bound, about two to four
        /// times the others, so that fewer features are selected.
        Ll = "ll",
    }
}

options! {
    /// Alpha-investing (Zhou, Foster, Stine and Ungar 2006; Section 5.1.2 of Li et al. 2016): features arrive
    /// one by one, and each is tested once against those selected before it.
    ///
    /// ```text
    /// αᵢ = wᵢ / (2 i),   i = 1, 2, …
    /// pᵢ < αᵢ:  select i,  wᵢ₊₁ = wᵢ + reward − αᵢ        else  wᵢ₊₁ = wᵢ − αᵢ
    /// ```
    ///
    /// `pᵢ` is the p-value of feature `i` in the linear regression on the features selected so far, with a
    /// constant. The wealth `w` starts at `wealth` and stays above 0, since `αᵢ ≤ wᵢ / 2`. As printed in the
    /// survey it starts at 0, and nothing would ever be tested. Where `wealth ≤ reward`, and the p-values
    /// hold, `E(wrong selections) / (E(selections) + 1) ≤ reward`, the marginal false discovery rate.
    ///
    /// The order is that of selection, and the score the test statistic: `t²` or `F`, `n ln(RSS/RSS₊)`, or
    /// `n (RSS − RSS₊) / RSS`. A feature that is constant, or follows from those selected but for rounding,
    /// has p-value 1, and so has every feature once the target is explained but for rounding. A category of
    /// more than two levels is tested with all of its levels at once.
    ///
    /// Cost: `O(n s)` a feature with `s` selected. Memory: `s` columns; nothing of a refused feature is kept.
    ///
    /// # Errors
    /// A target other than one real output or two classes; a NaN or an infinity, naming the cell; sample
    /// weights; an arriving feature with other samples, another target, or the name of a selected one.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_streams::AlphaInvesting;
    ///
    /// let noise = |j: u64| (0..60).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let columns: Vec<Vec<f64>> = (0..30).map(noise).collect();
    /// let y = columns[4].iter().zip(&columns[9]).map(|(a, b)| a - 2.0 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
    /// let selection = AlphaInvesting::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert!(selection.order.contains(&4) && selection.order.contains(&9));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct AlphaInvesting {
        /// What may be spent on tests before the first selection.
        pub wealth: f64 = 0.5, Positive;
        /// What a selection adds to it.
        pub reward: f64 = 0.5, Positive;
        /// P-value of a feature: t test, likelihood ratio (lr), or the bound of the authors' program (ll).
        pub test: InvestingTest = InvestingTest::T;
    }
}

impl AlphaInvesting {
    /// A selector to which features arrive.
    ///
    /// # Errors
    /// For options out of range.
    pub fn stream(&self) -> Result<AlphaInvestingStream, Error> {
        self.check()?;
        Ok(AlphaInvestingStream {
            options: *self,
            arrivals: Arrivals::new(METHOD),
            wealth: self.wealth,
            total: 0.0,
            residual: Vec::new(),
            basis: Vec::new(),
            kept: Vec::new(),
            last: None,
        })
    }
}

impl StreamMethod for AlphaInvesting {
    const ARRIVES: Arrives = Arrives::Features;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(self.stream()?))
    }
}

impl Selector for AlphaInvesting {
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

/// A selected feature.
struct Kept {
    feature: usize,
    name: String,
    statistic: f64,
    p_value: f64,
}

state!(Kept { feature, name, statistic, p_value });

/// [`AlphaInvesting`] on features that arrive.
pub struct AlphaInvestingStream {
    options: AlphaInvesting,
    arrivals: Arrivals,
    wealth: f64,
    /// The squared norm of the target.
    total: f64,
    /// What the selected features leave of the target.
    residual: Vec<f64>,
    /// Orthonormal columns that span the selected features.
    basis: Vec<f64>,
    kept: Vec<Kept>,
    last: Option<Verdict>,
}

/// A feature against those selected.
struct Tested {
    /// What it adds to the basis.
    columns: Vec<f64>,
    /// What it would leave of the target.
    residual: Vec<f64>,
    statistic: f64,
    p_value: f64,
}

impl AlphaInvestingStream {
    /// What may be spent on further tests.
    pub fn wealth(&self) -> f64 {
        self.wealth
    }

    /// What came of the feature that arrived last.
    pub fn last(&self) -> Option<&Verdict> {
        self.last.as_ref()
    }

    fn decide(&mut self, arrived: Arrived) {
        let tested = self.test(&arrived);
        let share = self.wealth / (2.0 * (arrived.number + 1) as f64);
        let is_taken = tested.p_value < share;
        self.wealth -= share;
        if is_taken {
            self.wealth += self.options.reward;
            self.basis.extend(tested.columns);
            self.residual = tested.residual;
            self.kept.push(Kept {
                feature: arrived.number,
                name: arrived.name,
                statistic: tested.statistic,
                p_value: tested.p_value,
            });
        }
        self.last = Some(Verdict {
            feature: arrived.number,
            outcome: if is_taken { Outcome::Admitted } else { Outcome::Irrelevant },
            value: tested.p_value,
            left: Vec::new(),
        });
        self.arrivals.done();
    }

    fn test(&self, arrived: &Arrived) -> Tested {
        let n = self.residual.len();
        let mut columns: Vec<f64> = Vec::new();
        for mut column in columns_of(arrived) {
            // Twice, so that nothing of those selected is left.
            for _ in 0..2 {
                for other in self.basis.chunks_exact(n).chain(columns.chunks_exact(n)) {
                    let along = dot(other, &column);
                    add_scaled(&mut column, -along, other);
                }
            }
            let left = dot(&column, &column);
            if left > DEPENDENT * n as f64 {
                column.iter_mut().for_each(|value| *value /= left.sqrt());
                columns.extend(column);
            }
        }
        let before = dot(&self.residual, &self.residual);
        let mut residual = self.residual.clone();
        let mut gained = 0.0;
        for column in columns.chunks_exact(n) {
            let along = dot(column, &residual);
            add_scaled(&mut residual, -along, column);
            gained += along * along;
        }
        let rest = dot(&residual, &residual);
        let m = (columns.len() / n.max(1)) as f64;
        let freedom = n as f64 - 1.0 - (self.basis.len() / n.max(1)) as f64 - m;
        if m == 0.0 || before <= EXPLAINED * self.total || !before.is_normal() {
            return Tested { columns, residual, statistic: 0.0, p_value: 1.0 };
        }
        let (n, share) = (n as f64, gained / before);
        let (statistic, p_value) = match self.options.test {
            InvestingTest::T if freedom < 1.0 => (0.0, 1.0),
            InvestingTest::T => {
                (gained / m / (rest / freedom), tails::fisher_snedecor(rest / (rest + gained), m, freedom))
            }
            InvestingTest::Lr => {
                let log = if share < 0.5 { -(-share).ln_1p() } else { (before / rest).ln() };
                (n * log, tails::chi_squared(n * log, m))
            }
            InvestingTest::Ll => (n * share, (-0.5 * n * share).exp()),
        };
        Tested { columns, residual, statistic, p_value }
    }
}

/// The standardised columns of a feature: none for a constant one, of a category all levels but the first.
fn columns_of(arrived: &Arrived) -> Vec<Vec<f64>> {
    let columns = if arrived.is_category {
        let levels = fewest_counts::discretisation::categories(&arrived.values);
        let indicator = |level| levels.codes.iter().map(|&code| f64::from(code as usize == level)).collect();
        (1..levels.n_levels).map(indicator).collect()
    } else {
        vec![arrived.values.clone()]
    };
    columns
        .into_iter()
        .filter_map(|mut column: Vec<f64>| standardise(&mut column).then_some(column))
        .collect()
}

impl StreamSelector for AlphaInvestingStream {
    fn update(&mut self, arrived: &Dataset, context: &Context<'_>) -> Result<(), Error> {
        let Self { arrivals, kept, residual, total, .. } = self;
        let group = arrivals.take(
            arrived,
            |name| kept.iter().any(|kept| kept.name == name),
            |group| {
                *residual = one_output(group.target(), METHOD, "one real output or two classes", context)?;
                *total = dot(residual, residual);
                Ok(())
            },
        )?;
        group.into_iter().for_each(|arrived| self.decide(arrived));
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        let chosen =
            |kept: &Kept| Chosen { feature: kept.feature, score: kept.statistic, p_value: kept.p_value };
        let chosen = self.kept.iter().map(chosen).collect();
        let mut selection = self.arrivals.selection(chosen, budget, Status::Converged)?;
        selection.note_missing_features(budget, "no other p-value was below what the wealth allowed");
        Ok(selection)
    }

    fn held(&self) -> Held {
        Held::new(self.kept.len(), self.basis.len() + self.residual.len())
    }

    fn name(&self, feature: usize) -> Option<&str> {
        let kept = self.kept.iter().find(|kept| kept.feature == feature);
        kept.map(|kept| kept.name.as_str())
    }

    stream_state!(options; arrivals.target, arrivals.n_samples, arrivals.n_arrived, wealth, total, residual,
        basis, kept, last);
}
