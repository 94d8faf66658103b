//! Scores from sums that no order and no division of the rows changes: for engines that promise neither, such
//! as databases.

use fewest_columns::{ExactMoments, ExactProducts};
use fewest_core::{Error, Scores};

/// Sums of one feature and the target, over rows that came in any order and any parts.
///
/// Levels and classes are numbered by whoever counts. Give equal rows equal numbers (sort the names once all
/// are known): then equal rows have scores with the same bits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Unordered {
    /// Of a number, by class; of one class where there is no target.
    Numbers(Vec<ExactMoments>),
    /// Of categories.
    Levels {
        /// Number of levels.
        n_levels: usize,
        /// How often each level occurs with each class, `counts[level + class · n_levels]`; one class where
        /// there is no target.
        counts: Vec<u64>,
        /// Whether the levels are numbers in increasing order.
        are_numbers: bool,
    },
    /// Of a number and of a real target.
    Products(ExactProducts),
    /// Of a real target, by level of a category.
    Targets(Vec<ExactMoments>),
}

impl Unordered {
    /// Whether the target varies; without that most scores are not defined.
    pub fn target_varies(&self) -> bool {
        match self {
            Unordered::Products(products) => products.y.varies(),
            Unordered::Targets(levels) => ExactMoments::together(levels).varies(),
            classes => classes.n_classes() > 1,
        }
    }

    /// Classes that occur.
    fn n_classes(&self) -> usize {
        match self {
            Unordered::Numbers(classes) => classes.iter().filter(|class| class.n() > 0).count(),
            Unordered::Levels { n_levels, counts, .. } => {
                let occurs = |class: &&[u64]| class.iter().any(|count| *count > 0);
                counts.chunks(*n_levels.max(&1)).filter(occurs).count()
            }
            _ => 0,
        }
    }

    /// The error of a method that needs another target.
    pub(crate) fn unsupported(&self, method: &'static str, expected: &'static str) -> Error {
        let found = match self {
            Unordered::Products(_) | Unordered::Targets(_) => "real".to_owned(),
            classes => format!("{} classes", classes.n_classes()),
        };
        Error::UnsupportedTarget { method, expected, found }
    }
}

/// A score that sums in no order tell.
///
/// It is that of [`Scorer`](fewest_core::Scorer) over the same rows, but for rounding: the sums here are
/// exact, and round once.
///
/// ```
/// use fewest_columns::ExactMoments;
/// use fewest_filters::statistical::FScore;
/// use fewest_filters::unordered::{Unordered, UnorderedScorer};
///
/// let (mut a, mut b) = (ExactMoments::default(), ExactMoments::default());
/// for value in [0.0, 2.0] {
///     a.add(value)?;
///     b.add(value + 4.0)?;
/// }
/// assert_eq!(FScore.score_unordered(&Unordered::Numbers(vec![a, b]))?.values, [8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait UnorderedScorer: Sync {
    /// The score of the feature, and its p-value where the method has one.
    ///
    /// # Errors
    /// Those of the score; [`Error::UnsupportedTarget`] and [`Error::Unsupported`] for sums of another kind.
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error>;
}

#[cfg(test)]
mod tests {
    use fewest_core::{Context, Dataset, DenseColumns, FeatureKind, Scorer, Target, derive_seed};

    use super::*;
    use crate::information::Mim;
    use crate::similarity::FisherScore;
    use crate::statistical::{ChiSquare, CorrelationScore, FScore, Gini, TScore, Variance};

    const N: usize = 500;

    fn draw(i: usize, column: u64, below: u64) -> u64 {
        derive_seed(column, i as u64) % below
    }

    fn class(i: usize, n_classes: u64) -> u32 {
        draw(i, 0, n_classes) as u32
    }

    /// A number far from 0, with another mean in each class.
    fn number(i: usize) -> f64 {
        1e5 + f64::from(class(i, 3)) + draw(i, 1, 1000) as f64 / 300.0
    }

    /// A category of four levels, of which one does not occur.
    fn level(i: usize) -> usize {
        [0, 1, 3][((draw(i, 2, 3) + draw(i, 0, 3)) / 2) as usize]
    }

    fn real(i: usize) -> f64 {
        number(i) + level(i) as f64 + draw(i, 3, 1000) as f64 / 300.0
    }

    fn moments(by: impl Fn(usize) -> usize, value: impl Fn(usize) -> f64, n: usize) -> Vec<ExactMoments> {
        let mut moments = vec![ExactMoments::default(); n];
        // From the last row to the first: the order does not matter.
        (0..N).rev().for_each(|i| moments[by(i)].add(value(i)).unwrap());
        moments
    }

    fn counts(n_classes: u64, are_numbers: bool) -> Unordered {
        let mut counts = vec![0; 4 * n_classes as usize];
        (0..N).for_each(|i| counts[level(i) + 4 * class(i, n_classes) as usize] += 1);
        Unordered::Levels { n_levels: 4, counts, are_numbers }
    }

    /// Both targets and features as the sums of this module.
    fn sums(is_category: bool, target: &Target) -> Unordered {
        match (is_category, target) {
            (false, Target::Class(classes)) => {
                let n = classes.n_classes() as u64;
                // A class more, which does not occur.
                Unordered::Numbers(moments(|i| class(i, n) as usize, number, n as usize + 1))
            }
            (true, Target::Class(classes)) => counts(classes.n_classes() as u64, false),
            (false, _) => {
                let mut products = ExactProducts::default();
                (0..N).rev().for_each(|i| products.add(number(i), real(i)).unwrap());
                Unordered::Products(products)
            }
            (true, _) => Unordered::Targets(moments(level, real, 4)),
        }
    }

    fn check<S: Scorer + UnorderedScorer>(scorer: &S, is_category: bool, target: Target) {
        let sums = sums(is_category, &target);
        assert!(sums.target_varies());
        let value = |i: usize| if is_category { level(i) as f64 } else { number(i) };
        let x = DenseColumns::from_columns(&[(0..N).map(value).collect()]).unwrap();
        let kind = match is_category {
            true => FeatureKind::Categorical { levels: ["a", "b", "c", "d"].map(str::to_owned).to_vec() },
            false => FeatureKind::Numeric,
        };
        let data = Dataset::new(x, target).unwrap().with_feature_kinds(vec![kind]).unwrap();
        let expected = scorer.score(&data, &Context::default()).unwrap();
        let found = scorer.score_unordered(&sums).unwrap();
        assert_eq!(found.higher_is_better, expected.higher_is_better);
        let is_close = |found: f64, expected: f64, tolerance: f64| {
            assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} for {expected}");
        };
        is_close(found.values[0], expected.values[0], 1e-11);
        assert_eq!(found.p_values.is_some(), expected.p_values.is_some());
        for (found, expected) in found.p_values.iter().flatten().zip(expected.p_values.iter().flatten()) {
            is_close(*found, *expected, 1e-9);
        }
    }

    fn classes(n_classes: u64) -> Target {
        Target::from_labels(&(0..N).map(|i| class(i, n_classes)).collect::<Vec<_>>())
    }

    fn real_target() -> Target {
        Target::real((0..N).map(real).collect()).unwrap()
    }

    #[test]
    fn scores_are_those_of_a_table() {
        for is_category in [false, true] {
            check(&Variance, is_category, classes(3));
            check(&FisherScore, is_category, classes(3));
            check(&TScore::default(), is_category, classes(2));
            for target in [classes(2), classes(3), real_target()] {
                check(&FScore, is_category, target);
            }
            for target in [classes(2), real_target()] {
                check(&CorrelationScore::default(), is_category, target);
            }
        }
        check(&ChiSquare::default(), true, classes(3));
        check(&Mim::default(), true, classes(3));
        check(&Gini::default(), true, classes(3));
    }

    /// Whole numbers have thresholds, where categories have levels.
    #[test]
    fn levels_that_are_numbers_are_split_by_a_threshold() {
        let values = (0..N).map(|i| level(i) as f64).collect();
        let data = Dataset::new(DenseColumns::from_columns(&[values]).unwrap(), classes(3)).unwrap();
        let expected = Gini::default().score(&data, &Context::default()).unwrap().values;
        assert_eq!(Gini::default().score_unordered(&counts(3, true)).unwrap().values, expected);
    }

    #[test]
    fn sums_of_another_kind_are_refused() {
        let real = sums(false, &real_target());
        for scorer in
            [&FisherScore as &dyn UnorderedScorer, &TScore::default(), &ChiSquare::default(), &Variance]
        {
            assert!(matches!(scorer.score_unordered(&real), Err(Error::UnsupportedTarget { .. })));
        }
        let number = sums(false, &classes(3));
        for scorer in [&ChiSquare::default() as &dyn UnorderedScorer, &Mim::default(), &Gini::default()] {
            assert!(matches!(scorer.score_unordered(&number), Err(Error::Unsupported { .. })));
        }
        for sums in [number, counts(3, false)] {
            let three = CorrelationScore::default().score_unordered(&sums);
            assert!(matches!(three, Err(Error::UnsupportedTarget { found, .. }) if found == "3 classes"));
        }
    }

    #[test]
    fn what_no_rows_define_is_an_error() {
        let none = [
            Unordered::Numbers(Vec::new()),
            Unordered::Numbers(vec![ExactMoments::default(); 2]),
            Unordered::Levels { n_levels: 0, counts: Vec::new(), are_numbers: false },
            Unordered::Levels { n_levels: 3, counts: vec![0; 6], are_numbers: true },
            Unordered::Products(ExactProducts::default()),
            Unordered::Targets(Vec::new()),
        ];
        for sums in &none {
            assert!(!sums.target_varies());
            for scorer in [&FScore as &dyn UnorderedScorer, &CorrelationScore::default(), &TScore::default()]
            {
                assert!(scorer.score_unordered(sums).is_err());
            }
        }
    }
}
