//! Tests whether a feature and the target are independent, alone or given other features.

mod fisher_z;
mod g2;

use fewest_core::{Context, Dataset, Error, State, Target, choice, state};
use fewest_counts::discretisation::{Discretisation, DiscretisationRule, Levels};

use crate::arrivals::{Arrived, one_output};

pub(crate) use g2::ROWS_PER_FREEDOM;

choice! {
    /// A test of independence, with one p-value.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum IndependenceTest {
        /// Fisher's z of the partial correlation `ρ` given a set `S`, for numbers, a real output or two
        /// classes: `p = 2 (1 − Φ(√(n − |S| − 3) |atanh ρ|))`. Where `S` explains one of the two but for
        /// rounding, `p = 1`.
        FisherZ = "fisher-z",
        /// The likelihood ratio of levels: `G² = 2 Σ N ln(N Nₛ / (Nₓₛ Nᵧₛ))`, with
        /// `(rₓ − 1)(rᵧ − 1) Π rₛ` degrees of freedom. With fewer than 5 samples for each of them the test is
        /// not made, and removes nothing.
        G2 {
            /// How numbers become levels.
            discretisation: DiscretisationRule = DiscretisationRule::EqualWidth;
            /// Number of bins.
            bins: usize = 5, Between(2, 65536);
        } = "g2",
    }
}

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tested {
    /// The p-value; none where the test could not be made.
    pub(crate) p_value: Option<f64>,
    /// How dependent they are: `|ρ|`, or `G² / 2n`, the (conditional) mutual information.
    pub(crate) dependence: f64,
}

state!(Tested { p_value, dependence });

impl Tested {
    const INDEPENDENT: Self = Self { p_value: Some(1.0), dependence: 0.0 };

    /// Whether independence stands at level `alpha`; a test that was not made rejects nothing and shows
    /// nothing: `unknown`.
    pub(crate) fn is_independent(self, alpha: f64, unknown: bool) -> bool {
        self.p_value.map_or(unknown, |p| p > alpha)
    }
}

/// A feature, as the test needs it.
pub(crate) enum Variable {
    /// Standardised.
    Numbers(Vec<f64>),
    Levels(Levels),
}

impl State for Variable {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Numbers(values) => {
                true.save(to);
                values.save(to);
            }
            Self::Levels(levels) => {
                false.save(to);
                levels.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        Ok(match bool::load(from)? {
            true => Self::Numbers(State::load(from)?),
            false => Self::Levels(State::load(from)?),
        })
    }
}

impl Variable {
    /// Floating-point numbers that take as much memory.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Levels(levels) => levels.codes.len().div_ceil(2),
        }
    }
}

/// The target, as the test needs it.
pub(crate) struct Judge {
    target: Variable,
    n: usize,
}

state!(Judge { target, n });

impl Judge {
    /// # Errors
    /// [`Error::UnsupportedTarget`]; [`Error::TooFew`] for fewer samples than a test needs.
    pub(crate) fn new(
        test: IndependenceTest,
        data: &Dataset,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        let target = match test {
            IndependenceTest::FisherZ => {
                let expected = "one real output or two classes (test=g2 takes more classes)";
                let values = one_output(data.target(), method, expected, context)?;
                if n < 4 {
                    return Err(Error::TooFew { what: "samples", minimum: 4, found: n });
                }
                Variable::Numbers(values)
            }
            IndependenceTest::G2 { .. } => {
                let levels = match data.target() {
                    Target::Class(classes) => Levels::of_classes(classes),
                    Target::Real(outputs) if outputs.n_outputs() == 1 => {
                        rule(test).target_levels(outputs.output(0))?
                    }
                    other => {
                        let expected = "classes or one real output";
                        return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
                    }
                };
                if levels.n_levels < 2 {
                    let what = "different values of the target";
                    return Err(Error::TooFew { what, minimum: 2, found: levels.n_levels });
                }
                Variable::Levels(levels)
            }
        };
        Ok(Self { target, n })
    }

    pub(crate) fn target(&self) -> &Variable {
        &self.target
    }

    /// An arriving feature; none for a constant one.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a category of more than two levels, where numbers are needed.
    pub(crate) fn variable(
        &self,
        arrived: &Arrived,
        test: IndependenceTest,
        method: &'static str,
    ) -> Result<Option<Variable>, Error> {
        match &self.target {
            Variable::Numbers(_) => {
                arrived.refuse_category(method, "give test=g2, which takes categories, or leave it out")?;
                let mut values = arrived.values.clone();
                Ok(fewest_columns::standardise(&mut values).then_some(Variable::Numbers(values)))
            }
            Variable::Levels(target) => {
                let levels = if arrived.is_category {
                    fewest_counts::discretisation::categories(&arrived.values)
                } else {
                    rule(test).levels(&arrived.values, Some(target))?
                };
                Ok((levels.n_levels > 1).then_some(Variable::Levels(levels)))
            }
        }
    }

    /// `a` against `b`, each a feature or the target.
    pub(crate) fn pair(&self, a: &Variable, b: &Variable) -> Tested {
        match (a, b) {
            (Variable::Numbers(a), Variable::Numbers(b)) => {
                fisher_z::tested(fewest_linalg::dot(a, b) / self.n as f64, self.n, 0)
            }
            (Variable::Levels(a), Variable::Levels(b)) => g2::tested(a, b, &[]),
            _ => Tested::INDEPENDENT,
        }
    }

    /// Feature `x` against the target, given those of `given`, by their numbers in `all`; `correlations` are
    /// those of `all` and, last, the target.
    fn given(&self, all: &[&Variable], correlations: &Correlations, x: usize, given: &[usize]) -> Tested {
        match (&self.target, all[x]) {
            (Variable::Levels(target), Variable::Levels(own)) => {
                let levels = |&at: &usize| match all[at] {
                    Variable::Levels(levels) => Some(levels),
                    Variable::Numbers(_) => None,
                };
                let given: Vec<&Levels> = given.iter().filter_map(levels).collect();
                g2::tested(own, target, &given)
            }
            _ => fisher_z::partial(correlations, x, given, self.n),
        }
    }
}

fn rule(test: IndependenceTest) -> Discretisation {
    match test {
        IndependenceTest::G2 { discretisation, bins } => {
            Discretisation { discretisation, bins, ..Discretisation::default() }
        }
        IndependenceTest::FisherZ => Discretisation::default(),
    }
}

/// The correlations of some features with each other and with the target; empty where levels are tested.
#[derive(Default)]
pub(crate) struct Correlations {
    /// Of each feature with those before it.
    rows: Vec<Vec<f64>>,
    with_target: Vec<f64>,
}

state!(Correlations { rows, with_target });

impl Correlations {
    fn of(&self, a: usize, b: usize) -> f64 {
        match a.cmp(&b) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Less => self.rows[b][a],
            std::cmp::Ordering::Greater => self.rows[a][b],
        }
    }

    pub(crate) fn push(&mut self, judge: &Judge, all: &[&Variable], new: &Variable) {
        if let (Variable::Numbers(target), Variable::Numbers(new)) = (&judge.target, new) {
            let with = |values: &[f64]| fewest_linalg::dot(values, new) / judge.n as f64;
            let numbers = |other: &&Variable| match other {
                Variable::Numbers(values) => with(values),
                Variable::Levels(_) => 0.0,
            };
            self.rows.push(all.iter().map(numbers).collect());
            self.with_target.push(with(target));
        }
    }

    pub(crate) fn remove(&mut self, at: usize) {
        if at < self.rows.len() {
            self.rows.remove(at);
            self.with_target.remove(at);
            for row in &mut self.rows[at..] {
                row.remove(at);
            }
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.rows.iter().map(Vec::len).sum::<usize>() + self.with_target.len()
    }
}

/// What looks for a set of features that makes another one independent of the target.
pub(crate) struct Search<'a> {
    pub(crate) judge: &'a Judge,
    pub(crate) all: &'a [&'a Variable],
    pub(crate) correlations: &'a Correlations,
    pub(crate) alpha: f64,
    /// Most features of a set.
    pub(crate) most: usize,
}

impl Search<'_> {
    /// Whether `x` is independent of the target given some set of 1 to `most` features of `others`, which
    /// contains `with` where that is given. Small sets come first. `None` once `is_stopped` says so.
    pub(crate) fn separates(
        &self,
        x: usize,
        others: &[usize],
        with: Option<usize>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<bool> {
        let fixed = usize::from(with.is_some());
        let mut set: Vec<usize> = with.into_iter().collect();
        for size in fixed.max(1)..=self.most.min(others.len() + fixed) {
            if self.extend(x, others, size - fixed, &mut set, is_stopped)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Over all sets of `set` and `missing` further features of `others`.
    fn extend(
        &self,
        x: usize,
        others: &[usize],
        missing: usize,
        set: &mut Vec<usize>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<bool> {
        if missing == 0 {
            let tested = self.judge.given(self.all, self.correlations, x, set);
            return Some(tested.is_independent(self.alpha, false));
        }
        if is_stopped() {
            return None;
        }
        for at in 0..(others.len() + 1).saturating_sub(missing) {
            set.push(others[at]);
            let found = self.extend(x, &others[at + 1..], missing - 1, set, is_stopped);
            set.pop();
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }
}
