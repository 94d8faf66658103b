//! How features vary between classes and within them.

use std::ops::Range;

use crate::tables::LevelTable;
use crate::unordered::Unordered;
use fewest_columns::{ColumnSums, TableSums, Unit, safe_stream_sums};
use fewest_core::{
    Classes, Column, Context, Dataset, Error, FeatureKind, RunningScores, SampleStream, Scores, State, Target,
};

use crate::running::Running;

use fewest_columns::moments::{Moments, is_safe};

/// How a feature varies between classes and within them, up to a common factor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    /// `Σⱼ nⱼ ‖mⱼ − m‖²`.
    pub(crate) between: f64,
    /// `Σ ‖x − mⱼ‖²` over the samples of each class.
    pub(crate) within: Vec<f64>,
    /// Dimensions of the feature: 1, or the number of levels less 1 of a categorical one.
    pub(crate) dimensions: usize,
    /// Samples of each class that occurs.
    pub(crate) counts: Vec<usize>,
}

impl Spread {
    /// Whether the feature does not vary.
    pub(crate) fn is_constant(&self) -> bool {
        self.between == 0.0 && self.within.iter().all(|within| *within == 0.0)
    }

    /// Whether no square has overflowed or vanished.
    fn is_safe(&self) -> bool {
        is_safe(self.between + self.within.iter().sum::<f64>())
    }
}

/// The samples, class by class.
pub(crate) struct ClassOrder {
    /// The class of each sample, among those that occur.
    codes: Vec<u32>,
    /// Samples by class.
    order: Vec<u32>,
    /// Samples in each class that occurs.
    pub(crate) counts: Vec<usize>,
}

impl ClassOrder {
    /// Of the classes that occur.
    ///
    /// # Errors
    /// [`Error::TooFew`] for fewer than two.
    pub(crate) fn new(classes: &Classes) -> Result<Self, Error> {
        let all = classes.counts();
        let mut compact = vec![0_u32; all.len()];
        let mut counts = Vec::new();
        for (class, &count) in all.iter().enumerate().filter(|(_, count)| **count > 0) {
            compact[class] = counts.len() as u32;
            counts.push(count);
        }
        check_classes(&counts)?;
        let codes: Vec<u32> = classes.codes().iter().map(|&code| compact[code as usize]).collect();
        Ok(Self::of(codes, counts))
    }

    fn of(codes: Vec<u32>, counts: Vec<usize>) -> Self {
        let mut next = starts(&counts);
        let mut order = vec![0; codes.len()];
        for (i, &code) in codes.iter().enumerate() {
            let at = &mut next[code as usize];
            order[*at] = i as u32;
            *at += 1;
        }
        Self { codes, order, counts }
    }

    pub(crate) fn n_samples(&self) -> usize {
        self.codes.len()
    }

    /// The class of each sample, as a code among those that occur.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The stored values class by class, and how many of each.
    fn by_class(&self, column: Column<'_>) -> (Vec<f64>, Vec<usize>) {
        match column {
            Column::Dense(values) => {
                (self.order.iter().map(|&i| values[i as usize]).collect(), self.counts.clone())
            }
            Column::Sparse { rows, values } => {
                let mut stored = vec![0; self.counts.len()];
                for &row in rows {
                    stored[self.codes[row] as usize] += 1;
                }
                let mut next = starts(&stored);
                let mut sorted = vec![0.0; values.len()];
                for (&row, &value) in rows.iter().zip(values) {
                    let at = &mut next[self.codes[row] as usize];
                    sorted[*at] = value;
                    *at += 1;
                }
                (sorted, stored)
            }
        }
    }
}

/// Where each class begins, if they come one after the other.
fn starts(counts: &[usize]) -> Vec<usize> {
    let before = |first: &mut usize, count: &usize| Some(std::mem::replace(first, *first + count));
    counts.iter().scan(0, before).collect()
}

/// What is summed over the samples of each class.
pub(crate) struct ByClass {
    /// The id of the method that needs classes.
    pub(crate) method: &'static str,
}

/// Sums over the samples of each class.
#[derive(Clone)]
pub(crate) enum ClassSums {
    /// Of a number: how many samples each class has, with their moments where it has any.
    Numbers(Vec<(usize, Option<Moments>)>),
    /// Of categories.
    Levels(LevelTable),
}

impl ColumnSums for ByClass {
    type Batch = ClassOrder;
    type Sums = ClassSums;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<ClassOrder, Error> {
        let Target::Class(classes) = target else {
            return Err(Error::UnsupportedTarget {
                method: self.method,
                expected: "classes",
                found: target.describe(),
            });
        };
        // All classes: other batches have samples of those that do not occur here.
        let codes = classes.codes()[rows].to_vec();
        let mut counts = vec![0; classes.n_classes()];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        Ok(ClassOrder::of(codes, counts))
    }

    fn sums(
        &self,
        _: usize,
        kind: &FeatureKind,
        order: &ClassOrder,
        column: Column<'_>,
    ) -> Result<ClassSums, Error> {
        if let FeatureKind::Categorical { .. } = kind {
            let values = column.to_vec(order.n_samples());
            return Ok(ClassSums::Levels(LevelTable::new(&values, &order.codes, order.counts.len())));
        }
        let (values, stored) = order.by_class(column);
        let mut rest = values.as_slice();
        let moments = order.counts.iter().zip(stored).map(|(&count, stored)| {
            let (own, others) = rest.split_at(stored);
            rest = others;
            (count, (count > 0).then(|| Moments::new(own, count - stored)))
        });
        Ok(ClassSums::Numbers(moments.collect()))
    }

    fn merge(&self, sums: &mut ClassSums, later: ClassSums) {
        match (sums, later) {
            (ClassSums::Numbers(sums), ClassSums::Numbers(later)) => {
                for ((count, moments), (n_later, later)) in sums.iter_mut().zip(later) {
                    match (moments.as_mut(), later) {
                        (Some(moments), Some(later)) => moments.merge(*count, &later, n_later),
                        (None, later) => *moments = later,
                        (Some(_), None) => {}
                    }
                    *count += n_later;
                }
            }
            (ClassSums::Levels(sums), ClassSums::Levels(later)) => sums.merge(&later),
            // One feature is of one kind in all batches of a table.
            _ => {}
        }
    }
}

/// A table of which features are looked at class by class.
pub(crate) struct ClassTable(TableSums<ByClass>);

impl ClassTable {
    pub(crate) fn new(data: &Dataset, method: &'static str) -> Result<Self, Error> {
        TableSums::new(ByClass { method }, data.target(), data.n_samples()).map(Self)
    }

    /// How feature `j` varies between the classes and within them.
    pub(crate) fn spread(&self, j: usize, column: Column<'_>, kind: &FeatureKind) -> Result<Spread, Error> {
        self.sums(j, column, kind).map(|(sums, _)| sums.spread())
    }

    /// The sums of feature `j`, and what its values were divided by.
    pub(crate) fn sums(
        &self,
        j: usize,
        column: Column<'_>,
        kind: &FeatureKind,
    ) -> Result<(ClassSums, f64), Error> {
        self.0.safe_of(j, kind, column, ClassSums::is_safe)
    }
}

/// How every feature of a stream varies between the classes and within them.
pub(crate) fn stream_spreads(
    stream: &mut dyn SampleStream,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<Spread>, Error> {
    Ok(stream_sums(stream, method, context)?.into_iter().map(|(sums, _)| sums.spread()).collect())
}

/// The sums of every feature of a stream, and what its values were divided by.
pub(crate) fn stream_sums(
    stream: &mut dyn SampleStream,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<(ClassSums, f64)>, Error> {
    safe_stream_sums(stream, &ByClass { method }, ClassSums::is_safe, context)
}

/// What `scores` makes of the spreads of rows that arrive.
pub(crate) fn running_spreads(
    method: &'static str,
    scores: impl Fn(Vec<Spread>) -> Result<Scores, Error> + Send + 'static,
) -> Box<dyn RunningScores> {
    running_sums(method, move |sums| scores(sums.iter().map(ClassSums::spread).collect()))
}

/// What `scores` makes of the sums over rows that arrive.
pub(crate) fn running_sums(
    method: &'static str,
    scores: impl Fn(Vec<ClassSums>) -> Result<Scores, Error> + Send + 'static,
) -> Box<dyn RunningScores> {
    Box::new(Running::new(ByClass { method }, ClassSums::is_safe, scores))
}

/// The sums by class that are told in no order, and what their values were divided by.
///
/// # Errors
/// [`Error::UnsupportedTarget`].
pub(crate) fn unordered_sums(sums: &Unordered, method: &'static str) -> Result<(ClassSums, f64), Error> {
    let Unordered::Numbers(classes) = sums else {
        return Ok((ClassSums::Levels(LevelTable::unordered(sums, method)?), 1.0));
    };
    let unit = Unit::of(classes);
    let moments = classes.iter().map(|class| (class.n() as usize, class.moments(unit))).collect();
    Ok((ClassSums::Numbers(moments), unit.divisor()))
}

/// An error for fewer than two classes with samples.
pub(crate) fn check_classes(counts: &[usize]) -> Result<(), Error> {
    if counts.len() < 2 {
        return Err(Error::TooFew { what: "classes with samples", minimum: 2, found: counts.len() });
    }
    Ok(())
}

impl State for ClassSums {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            ClassSums::Numbers(classes) => {
                true.save(to);
                classes.save(to);
            }
            ClassSums::Levels(table) => {
                false.save(to);
                table.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        Ok(match bool::load(from)? {
            true => ClassSums::Numbers(State::load(from)?),
            false => ClassSums::Levels(State::load(from)?),
        })
    }
}

impl ClassSums {
    pub(crate) fn is_of_levels(&self) -> bool {
        matches!(self, ClassSums::Levels(_))
    }

    /// A value of a number, and its mean less that; nothing of categories.
    pub(crate) fn mean(&self) -> (f64, f64) {
        let ClassSums::Numbers(classes) = self else { return (0.0, 0.0) };
        let classes = || classes.iter().filter_map(|&(count, moments)| Some((count as f64, moments?)));
        let origin = classes().next().map_or(0.0, |(_, moments)| moments.origin);
        let n: f64 = classes().map(|(count, _)| count).sum();
        (origin, classes().map(|(count, moments)| count * moments.mean_from(origin)).sum::<f64>() / n)
    }

    pub(crate) fn is_safe(&self) -> bool {
        self.is_of_levels() || self.spread().is_safe()
    }

    pub(crate) fn spread(&self) -> Spread {
        match self {
            ClassSums::Numbers(classes) => {
                let classes = classes.iter().filter_map(|&(count, moments)| Some((count, moments?)));
                spread_of_numbers(&classes.collect::<Vec<_>>())
            }
            ClassSums::Levels(table) => spread_of_levels(table),
        }
    }
}

fn spread_of_numbers(classes: &[(usize, Moments)]) -> Spread {
    let origin = classes.first().map_or(0.0, |(_, moments)| moments.origin);
    let n = classes.iter().map(|(count, _)| count).sum::<usize>() as f64;
    let weighted = |term: &dyn Fn(f64) -> f64| -> f64 {
        classes.iter().map(|(count, m)| *count as f64 * term(m.mean_from(origin))).sum()
    };
    let mean = weighted(&|mean| mean) / n;
    // Means that are equal but for rounding in `mean` differ by nothing.
    let all_equal = classes.windows(2).all(|pair| pair[0].1.mean_from(origin) == pair[1].1.mean_from(origin));
    let between = if all_equal { 0.0 } else { weighted(&|own| (own - mean).powi(2)) };
    Spread {
        between,
        within: classes.iter().map(|(_, m)| m.deviations).collect(),
        dimensions: 1,
        counts: classes.iter().map(|(count, _)| *count).collect(),
    }
}

/// Half the squared distances of level indicators: for two levels, those of the codes 0 and 1.
fn spread_of_levels(levels: &LevelTable) -> Spread {
    // Of no samples there are no levels, and no classes either.
    let n_levels = levels.n_levels().max(1);
    let (table, counts) = (levels.counts(), levels.class_counts());
    let n = counts.iter().sum::<usize>() as f64;
    let mut all = vec![0.0; n_levels];
    for column in table.chunks_exact(n_levels) {
        all.iter_mut().zip(column).for_each(|(all, count)| *all += count);
    }
    let (mut between, mut within) = (0.0, Vec::with_capacity(counts.len()));
    for (column, &count) in table.chunks_exact(n_levels).zip(&counts) {
        let own = count as f64;
        let squares: f64 = column.iter().map(|c| c * (own - c)).sum();
        within.push(0.5 * squares / own);
        let distance: f64 = column.iter().zip(&all).map(|(c, a)| (c * n - a * own).powi(2)).sum();
        between += 0.5 * distance / (own * n * n);
    }
    Spread { between, within, dimensions: n_levels - 1, counts }
}
