//! Features as levels, in a form for fast joint counts.

use std::borrow::Cow;
use std::ops::Range;

use fewest_core::method::Options;
use fewest_core::{Column, Context, Dataset, Error, FeatureKind, Target};

use crate::counts::{Scratch, joint_sum};
use crate::discretisation::{self, Discretisation, Levels};
use fewest_columns::map_features;

/// Bytes that the codes of all features may take with planes beside them. Where they would take more, only
/// the codes or the planes of a feature are kept, whichever are smaller.
const MOST_CODES: usize = 256 << 20;

/// The samples, ordered by class so that counts within a class are counts over a range, and tables that every
/// count needs.
pub struct Rows {
    /// Sample indices, class after class.
    order: Vec<u32>,
    /// One entry for each class that occurs.
    pub(crate) classes: Vec<Stretch>,
    /// All samples.
    pub(crate) all: Stretch,
    /// `c ln c` for every count `c` up to the number of samples.
    pub(crate) log_sums: Vec<f64>,
    /// `Σ c ln c` over the classes.
    pub target_sum: f64,
}

/// A range of samples, and of the words that hold one bit for each of them. Classes start at a new word.
#[derive(Clone)]
pub(crate) struct Stretch {
    pub(crate) rows: Range<usize>,
    pub(crate) words: Range<usize>,
}

impl Rows {
    fn new(target: &Levels) -> Self {
        Self::of_classes(&target.codes, target.n_levels)
    }

    /// Samples with these classes, below `n_classes`; some may not occur.
    pub fn of_classes(classes: &[u32], n_classes: usize) -> Self {
        let n = classes.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&row| classes[row as usize]);
        let log_sums: Vec<f64> = (0..=n).map(|count| count as f64 * (count.max(1) as f64).ln()).collect();
        let mut counts = vec![0; n_classes];
        for &code in classes {
            counts[code as usize] += 1;
        }
        let (mut row, mut word) = (0, 0);
        let classes: Vec<Stretch> = counts
            .iter()
            .map(|&count: &usize| {
                let stretch = Stretch { rows: row..row + count, words: word..word + count.div_ceil(64) };
                (row, word) = (stretch.rows.end, stretch.words.end);
                stretch
            })
            .collect();
        let target_sum = counts.iter().map(|&count| log_sums[count]).sum();
        Self { order, classes, all: Stretch { rows: 0..n, words: 0..word }, log_sums, target_sum }
    }

    /// Number of samples.
    pub(crate) fn n_samples(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn sizes(&self) -> Sizes {
        let (n_words, n_classes) = (self.all.words.end, self.classes.len());
        Sizes { n_samples: self.n_samples(), n_words, n_classes, is_large: false }
    }

    /// `n ln n`.
    pub(crate) fn total_sum(&self) -> f64 {
        self.log_sums.last().copied().unwrap_or(0.0)
    }

    /// `H(Y)`.
    pub fn target_entropy(&self) -> f64 {
        ((self.total_sum() - self.target_sum) / self.n_samples() as f64).max(0.0)
    }
}

/// What the way in which a table is counted depends on.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub(crate) n_samples: usize,
    /// Words that hold a bit for each sample, class after class.
    pub(crate) n_words: usize,
    pub(crate) n_classes: usize,
    /// Only the codes or the planes of a feature are kept.
    is_large: bool,
}

impl Sizes {
    /// Of [`Coded`] with so many features, and so many samples in each class that occurs.
    pub fn new(class_counts: &[usize], n_features: usize) -> Self {
        let n_samples = class_counts.iter().sum();
        let n_words = class_counts.iter().map(|count| count.div_ceil(64)).sum();
        let is_large = is_large(n_samples, n_features);
        Self { n_samples, n_words, n_classes: class_counts.len(), is_large }
    }

    /// Whether a variable has planes at first: bits that take at most half of the memory of the codes.
    fn has_planes(&self, n_levels: usize) -> bool {
        n_levels > 1 && (n_levels - 1).saturating_mul(self.n_words) * 2 <= self.n_samples.max(64)
    }

    /// Whether a feature has planes.
    pub(crate) fn keeps_planes(&self, n_levels: usize) -> bool {
        // Those with planes have so few levels that a code is a byte.
        let is_thinned = || self.is_large && are_larger((n_levels - 1) * self.n_words, self.n_samples);
        self.has_planes(n_levels) && !is_thinned()
    }
}

/// Whether the codes of all features take too much memory for planes beside them.
fn is_large(n_samples: usize, n_features: usize) -> bool {
    n_samples.saturating_mul(n_features) > MOST_CODES
}

/// Whether planes of so many words are larger than codes of so many bytes.
fn are_larger(n_words: usize, bytes: usize) -> bool {
    n_words * size_of::<u64>() > bytes
}

/// Codes, in the smallest type that holds them.
pub(crate) enum Codes<'a> {
    Narrow(Cow<'a, [u8]>),
    Wide(Cow<'a, [u32]>),
}

impl Codes<'_> {
    pub(crate) fn at(&self, row: usize) -> u32 {
        match self {
            Codes::Narrow(codes) => u32::from(codes[row]),
            Codes::Wide(codes) => codes[row],
        }
    }
}

/// A discrete variable over [`Rows`].
pub struct Variable {
    /// `None` where the planes say them.
    codes: Option<Codes<'static>>,
    pub(crate) n_levels: usize,
    /// For each level but the last, one bit per sample; empty if counting row by row is faster or smaller.
    pub(crate) planes: Vec<u64>,
    /// Count of each level within each class, if there are planes; the last level is inferred from them.
    pub(crate) counts: Vec<u32>,
    /// Count of each level over all samples, if there are planes.
    pub(crate) totals: Vec<u32>,
    /// `Σ c ln c` over the levels.
    pub sum: f64,
    /// `Σ c ln c` over the levels within classes.
    pub target_sum: f64,
}

impl Variable {
    /// From the codes of the samples, below `n_levels`; some may not occur.
    pub fn of_codes(codes: &[u32], n_levels: usize, rows: &Rows) -> Self {
        Self::new(rows.order.iter().map(|&row| codes[row as usize]).collect(), n_levels, rows)
    }

    /// From codes in the order of [`Rows`].
    fn new(codes: Vec<u32>, n_levels: usize, rows: &Rows) -> Self {
        let n_words = rows.all.words.end;
        let mut totals = vec![0_u32; n_levels];
        let mut within = vec![0_u32; n_levels];
        let mut target_sum = 0.0;
        let has_planes = rows.sizes().has_planes(n_levels);
        let mut planes = vec![0_u64; if has_planes { (n_levels - 1) * n_words } else { 0 }];
        let mut counts = Vec::new();
        for class in &rows.classes {
            for (offset, &code) in codes[class.rows.clone()].iter().enumerate() {
                within[code as usize] += 1;
                if has_planes && (code as usize) < n_levels - 1 {
                    let word = code as usize * n_words + class.words.start + offset / 64;
                    planes[word] |= 1 << (offset % 64);
                }
            }
            if has_planes {
                counts.extend_from_slice(&within);
            }
            // By sample, not by level: there may be as many of them as samples, in as many classes.
            for &code in &codes[class.rows.clone()] {
                let count = std::mem::take(&mut within[code as usize]);
                target_sum += rows.log_sums[count as usize];
                totals[code as usize] += count;
            }
        }
        let sum = totals.iter().map(|&total| rows.log_sums[total as usize]).sum();
        if !has_planes {
            totals = Vec::new();
        }
        let codes = if n_levels <= 256 {
            Codes::Narrow(codes.into_iter().map(|code| code as u8).collect())
        } else {
            Codes::Wide(Cow::Owned(codes))
        };
        Self { codes: Some(codes), n_levels, planes, counts, totals, sum, target_sum }
    }

    /// The codes of these samples: of all of them or of a class.
    pub(crate) fn codes(&self, rows: &Rows, of: &Range<usize>) -> Codes<'_> {
        match &self.codes {
            Some(Codes::Narrow(codes)) => Codes::Narrow(Cow::Borrowed(&codes[of.clone()])),
            Some(Codes::Wide(codes)) => Codes::Wide(Cow::Borrowed(&codes[of.clone()])),
            None => Codes::Narrow(Cow::Owned(self.read_planes(rows, of))),
        }
    }

    fn read_planes(&self, rows: &Rows, of: &Range<usize>) -> Vec<u8> {
        // Planes are of few levels, the last of which has none.
        let mut codes = vec![self.n_levels.saturating_sub(1) as u8; of.len()];
        let inside = |class: &&Stretch| of.start <= class.rows.start && class.rows.end <= of.end;
        for class in rows.classes.iter().filter(inside) {
            for (level, plane) in self.planes.chunks_exact(rows.all.words.end).enumerate() {
                for (codes, &word) in
                    codes[class.rows.start - of.start..].chunks_mut(64).zip(&plane[class.words.clone()])
                {
                    let mut left = word;
                    while left != 0 {
                        codes[left.trailing_zeros() as usize] = level as u8;
                        left &= left - 1;
                    }
                }
            }
        }
        codes
    }

    /// Keeps only the codes or the planes, whichever are smaller.
    pub(crate) fn thin(&mut self) {
        let bytes = match &self.codes {
            Some(Codes::Narrow(codes)) => size_of_val(&codes[..]),
            Some(Codes::Wide(codes)) => size_of_val(&codes[..]),
            None => return,
        };
        if are_larger(self.planes.len(), bytes) {
            (self.planes, self.counts, self.totals) = (Vec::new(), Vec::new(), Vec::new());
        } else if !self.planes.is_empty() {
            self.codes = None;
        }
    }

    /// `I(k;Y)`, never negative.
    fn relevance(&self, rows: &Rows) -> f64 {
        let sums = rows.total_sum() - self.sum - rows.target_sum + self.target_sum;
        (sums / rows.n_samples() as f64).max(0.0)
    }

    /// The joint variable of `a` and `b`.
    pub fn joint(a: &Variable, b: &Variable, rows: &Rows) -> Self {
        let (of_a, of_b) = (a.codes(rows, &rows.all.rows), b.codes(rows, &rows.all.rows));
        let key = |row| u64::from(of_a.at(row)) * b.n_levels as u64 + u64::from(of_b.at(row));
        let keys: Vec<u64> = (0..rows.n_samples()).map(key).collect();
        let levels = Levels::from_keys(&keys);
        Self::new(levels.codes.to_vec(), levels.n_levels, rows)
    }

    /// The pairs of a level of `a` and one of `b`, also those that do not occur: level of a · levels of b +
    /// level of b. So samples in parts have the same pairs.
    pub fn pairs(a: &Variable, b: &Variable, rows: &Rows) -> Self {
        let (of_a, of_b) = (a.codes(rows, &rows.all.rows), b.codes(rows, &rows.all.rows));
        let pair = |row| of_a.at(row) * b.n_levels as u32 + of_b.at(row);
        Self::new((0..rows.n_samples()).map(pair).collect(), a.n_levels * b.n_levels, rows)
    }

    /// Whether all samples have one level.
    pub fn is_constant(&self) -> bool {
        self.n_levels < 2
    }
}

/// Features and target as levels.
pub struct Coded {
    /// The samples.
    pub rows: Rows,
    /// One variable for each feature.
    pub features: Vec<Variable>,
}

impl Coded {
    /// Every feature and the target of `data` by `rule`. Features are processed one at a time; a sparse one
    /// becomes dense: its levels need at most one byte per sample.
    ///
    /// # Errors
    /// A rule out of range; a NaN or an infinity, naming the cell; a target that `method` does not
    /// support, being neither classes nor one real output, or that has one value only.
    pub fn new(
        data: &Dataset,
        rule: &Discretisation,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let too_large = is_large(data.n_samples(), data.n_features());
        let (rows, features) = coded(data, rule, method, context, |mut variable, _| {
            if too_large {
                variable.thin();
            }
            variable
        })?;
        Ok(Self { rows, features })
    }

    /// `I(k;Y)`, never negative.
    pub fn relevance(&self, k: usize) -> f64 {
        self.features[k].relevance(&self.rows)
    }

    /// `H(k)`, never negative.
    pub fn entropy(&self, k: usize) -> f64 {
        ((self.rows.total_sum() - self.features[k].sum) / self.rows.n_samples() as f64).max(0.0)
    }

    /// `I(a;b)` of two features, never negative.
    pub fn information(&self, a: usize, b: usize, scratch: &mut Scratch) -> f64 {
        let Self { rows, features } = self;
        let joint = joint_sum(rows, &features[a], &features[b], scratch);
        ((rows.total_sum() - features[a].sum - features[b].sum + joint) / rows.n_samples() as f64).max(0.0)
    }
}

/// `I(k;Y)` of every feature, of which nothing else is kept: in the memory of one feature a thread.
///
/// # Errors
/// As [`Coded::new`].
pub fn relevances(
    data: &Dataset,
    rule: &Discretisation,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    Ok(coded(data, rule, method, context, |variable, rows| variable.relevance(rows))?.1)
}

/// The samples, and what `keep` keeps of each feature.
fn coded<T: Send>(
    data: &Dataset,
    rule: &Discretisation,
    method: &'static str,
    context: &Context<'_>,
    keep: impl Fn(Variable, &Rows) -> T + Sync,
) -> Result<(Rows, Vec<T>), Error> {
    rule.check()?;
    let target = target_levels(data, rule, method)?;
    let rows = Rows::new(&target);
    let features = map_features(data, context, "discretisation", |j, column| {
        let written_out;
        let values = match column {
            Column::Dense(values) => values,
            sparse @ Column::Sparse { .. } => {
                written_out = sparse.to_vec(data.n_samples());
                &written_out
            }
        };
        let levels = match data.feature_kind(j) {
            FeatureKind::Categorical { .. } => discretisation::categories(values),
            _ => rule.levels(values, Some(&target))?,
        };
        Ok(keep(Variable::of_codes(&levels.codes, levels.n_levels, &rows), &rows))
    })?;
    Ok((rows, features))
}

/// The classes of the target, or the levels of its one real output.
fn target_levels(data: &Dataset, rule: &Discretisation, method: &'static str) -> Result<Levels, Error> {
    let levels = match data.target() {
        Target::Class(classes) => Levels::of_classes(classes),
        Target::Real(outputs) if outputs.n_outputs() == 1 => rule.target_levels(outputs.output(0))?,
        other => {
            let expected = "classes or one real output";
            return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
        }
    };
    if levels.n_levels < 2 {
        let what = "different values of the target";
        return Err(Error::TooFew { what, minimum: 2, found: levels.n_levels });
    }
    Ok(levels)
}
