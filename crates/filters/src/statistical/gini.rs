//! Gini index.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, FeatureKind, Scorer, Scores};
use fewest_counts::discretisation::categories;

use super::classes::ClassOrder;
use super::levels::contingency;
use fewest_columns::score_features;

/// Gini index of each feature (Eq. 83 of Li et al. 2016): the impurity left by its best split in two,
///
/// ```text
/// min over v   p(x ≤ v) (1 − Σₛ p(s | x ≤ v)²) + p(x > v) (1 − Σₛ p(s | x > v)²)
/// ```
///
/// over every value v but the largest. Smaller is better: 0 for a split without mistake, at most `1 − 1/c`; a
/// constant feature has the impurity of the whole sample, which no split exceeds. Categories have no order:
/// there a split is one level against the others. Cost: `O(n log n)` a feature.
///
/// # Errors
/// A target that is not classes; a NaN or an infinity, naming the cell; sample weights.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::statistical::Gini;
///
/// let x = DenseColumns::from_columns(&[vec![3.0, 1.0, 7.0, 9.0], vec![5.0; 4]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// assert_eq!(Gini.score(&data, &Context::default())?.values, [0.0, 0.5]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gini;

impl Options for Gini {}

impl Scorer for Gini {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("gini")?;
        let order = ClassOrder::new(data.classes("gini")?)?;
        let (values, status) = score_features(data, context, "Gini index", f64::NAN, |j, column| {
            let values = column.to_vec(order.n_samples());
            Ok(match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => best_level(&values, &order),
                _ => best_threshold(&values, &order),
            })
        })?;
        Ok(Scores::ascending(values).with_status(status))
    }
}

/// `Σₛ countₛ²` of a part, kept up to date while samples move. Whole numbers: exact.
#[derive(Clone)]
struct Part {
    counts: Vec<u64>,
    n: u64,
    squares: u64,
}

impl Part {
    fn new(counts: Vec<u64>) -> Self {
        let (n, squares) = (counts.iter().sum(), counts.iter().map(|count| count * count).sum());
        Self { counts, n, squares }
    }

    /// Size times impurity, `n (1 − Σₛ p(s)²)`.
    fn impurity(&self) -> f64 {
        if self.n == 0 { 0.0 } else { self.n as f64 - self.squares as f64 / self.n as f64 }
    }
}

fn whole(order: &ClassOrder) -> Part {
    Part::new(order.counts.iter().map(|&count| count as u64).collect())
}

fn best_threshold(values: &[f64], order: &ClassOrder) -> f64 {
    let n = values.len() as f64;
    let mut sorted: Vec<(f64, u32)> = values.iter().copied().zip(order.codes().iter().copied()).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut right = whole(order);
    let mut left = Part::new(vec![0; order.counts.len()]);
    let mut best = right.impurity();
    for (at, &(value, class)) in sorted.iter().enumerate() {
        let class = class as usize;
        left.squares += 2 * left.counts[class] + 1;
        left.counts[class] += 1;
        left.n += 1;
        right.squares -= 2 * right.counts[class] - 1;
        right.counts[class] -= 1;
        right.n -= 1;
        if sorted.get(at + 1).is_some_and(|next| next.0 > value) {
            best = best.min(left.impurity() + right.impurity());
        }
    }
    best / n
}

fn best_level(values: &[f64], order: &ClassOrder) -> f64 {
    let all = whole(order);
    let levels = categories(values);
    let n_levels = levels.n_levels;
    let table = contingency(&levels.codes, n_levels, order.codes(), order.counts.len());
    let split = |level: usize| {
        let inside: Vec<u64> =
            table.iter().skip(level).step_by(n_levels).map(|&count| count as u64).collect();
        let outside = all.counts.iter().zip(&inside).map(|(all, inside)| all - inside).collect();
        Part::new(inside).impurity() + Part::new(outside).impurity()
    };
    (0..n_levels).map(split).fold(all.impurity(), f64::min) / values.len() as f64
}
