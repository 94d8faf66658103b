//! Lasso and elastic net from sums over rows: the products of all columns.

use std::ops::Range;

use fewest_columns::moments::{Moments, is_safe};
use fewest_columns::{
    COPIES_OF_PRODUCTS, ColumnSums, Made, Returned, rewind, safe_stream_sums, stream_products,
};
use fewest_core::method::Choice as _;
use fewest_core::{
    Budget, Column, Context, Dataset, Error, FeatureKind, SampleStream, Selection, State, Target, order,
};
use fewest_solver::bisection::Tried;

use super::columns::{LinearColumns, Source};
use super::loss::LinearLoss;
use super::penalised::opened;
use super::search::{Model, Problem};

/// Bytes that products may take where the context gives no number.
const MOST_BYTES: usize = 1 << 30;

/// What is summed of a feature, with what is summed of the target.
#[derive(Clone)]
struct Sums {
    n: usize,
    feature: FeatureSums,
    target: TargetSums,
}

fewest_core::state!(Sums { n, feature, target });

#[derive(Clone)]
enum FeatureSums {
    Number(Moments),
    /// Levels that occur, by increasing value, each with its number of samples.
    Levels(Vec<(f64, usize)>),
}

#[derive(Clone)]
enum TargetSums {
    /// Of each output.
    Real(Vec<Moments>),
    /// Samples of each class.
    Classes(Vec<usize>),
}

/// A number, or something for each level or class.
impl State for FeatureSums {
    fn save(&self, to: &mut Vec<u8>) {
        let (number, levels) = match self {
            Self::Number(moments) => (Some(*moments), Vec::new()),
            Self::Levels(levels) => (None, levels.clone()),
        };
        (number, levels).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (number, levels): (Option<Moments>, _) = State::load(from)?;
        Ok(number.map_or(Self::Levels(levels), Self::Number))
    }
}

impl State for TargetSums {
    fn save(&self, to: &mut Vec<u8>) {
        let (real, classes) = match self {
            Self::Real(outputs) => (Some(outputs.clone()), Vec::new()),
            Self::Classes(counts) => (None, counts.clone()),
        };
        (real, classes).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (real, classes): (Option<Vec<Moments>>, _) = State::load(from)?;
        Ok(real.map_or(Self::Classes(classes), Self::Real))
    }
}

struct Survey {
    method: &'static str,
}

impl ColumnSums for Survey {
    type Batch = (usize, TargetSums);
    type Sums = Sums;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        let n = rows.len();
        let sums = match target {
            Target::Real(real) => {
                let of = |o: usize| Moments::new(&real.output(o)[rows.clone()], 0);
                TargetSums::Real((0..real.n_outputs()).map(of).collect())
            }
            Target::Class(classes) => {
                let mut counts = vec![0; classes.n_classes()];
                classes.codes()[rows].iter().for_each(|&code| counts[code as usize] += 1);
                TargetSums::Classes(counts)
            }
            other => return Err(unsupported_target(self.method, other.describe())),
        };
        Ok((n, sums))
    }

    fn sums(
        &self,
        _: usize,
        kind: &FeatureKind,
        (n, target): &Self::Batch,
        column: Column<'_>,
    ) -> Result<Sums, Error> {
        let feature = match kind {
            FeatureKind::Categorical { .. } => {
                // Both zeros are one level.
                let levels = column.to_vec(*n).into_iter().map(|level| level + 0.0).collect();
                FeatureSums::Levels(order::counted(levels))
            }
            _ => FeatureSums::Number(Moments::of(column, *n)),
        };
        Ok(Sums { n: *n, feature, target: target.clone() })
    }

    fn merge(&self, sums: &mut Sums, later: Sums) {
        match (&mut sums.feature, later.feature) {
            (FeatureSums::Number(own), FeatureSums::Number(other)) => own.merge(sums.n, &other, later.n),
            (FeatureSums::Levels(own), FeatureSums::Levels(other)) => {
                for (level, count) in other {
                    match own.binary_search_by(|(known, _)| known.total_cmp(&level)) {
                        Ok(at) => own[at].1 += count,
                        Err(at) => own.insert(at, (level, count)),
                    }
                }
            }
            // One feature is of one kind in all batches of a table.
            _ => {}
        }
        match (&mut sums.target, later.target) {
            (TargetSums::Real(own), TargetSums::Real(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| own.merge(sums.n, &other, later.n));
            }
            (TargetSums::Classes(own), TargetSums::Classes(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
            }
            // One target is of one kind in all batches.
            _ => {}
        }
        sums.n += later.n;
    }
}

fn unsupported_target(method: &'static str, found: String) -> Error {
    Error::UnsupportedTarget { method, expected: "real outputs or classes that vary", found }
}

/// A column of mean 0 and standard deviation 1: `(value / divisor − origin − offset) / deviation`, of a level
/// `1` or `0` in place of the value.
#[derive(Debug, Clone, Copy)]
struct Standardised {
    level: Option<f64>,
    divisor: f64,
    /// A value, from which the others differ by what can be squared.
    origin: f64,
    /// The mean less `origin`.
    offset: f64,
    /// 0 of one that does not vary.
    deviation: f64,
}

impl Standardised {
    fn of_moments(moments: &Moments, n: usize, divisor: f64) -> Self {
        let deviation = (moments.deviations / n as f64).sqrt();
        let origin = moments.origin;
        Self { level: None, divisor, origin, offset: moments.mean_from(origin), deviation }
    }

    /// The indicator of what occurs `count` times in `n`.
    fn of_level(level: f64, count: usize, n: usize) -> Self {
        let share = count as f64 / n as f64;
        let deviation = (share * ((n - count) as f64 / n as f64)).sqrt();
        Self { level: Some(level), divisor: 1.0, origin: 0.0, offset: share, deviation }
    }

    fn write(&self, values: &[f64], out: &mut [f64]) {
        if self.deviation == 0.0 {
            out.fill(0.0);
            return;
        }
        let Self { level, divisor, origin, offset, deviation } = *self;
        let inverse = deviation.recip();
        let each = out.iter_mut().zip(values);
        match level {
            Some(level) => {
                each.for_each(|(out, value)| *out = (f64::from(*value == level) - offset) * inverse)
            }
            None => each.for_each(|(out, value)| *out = ((value / divisor - origin) - offset) * inverse),
        }
    }
}

/// The columns of a feature, each with its level where there is one for each.
fn columns_of(sums: &Sums, divisor: f64) -> Vec<(Option<f64>, Standardised)> {
    let n = sums.n;
    match &sums.feature {
        FeatureSums::Number(moments) => vec![(None, Standardised::of_moments(moments, n, divisor))],
        FeatureSums::Levels(levels) if levels.len() > 2 => levels
            .iter()
            .map(|&(level, count)| (Some(level), Standardised::of_level(level, count, n)))
            .collect(),
        // The larger of two codes against the other.
        FeatureSums::Levels(levels) => {
            let &(level, count) = levels.last().unwrap_or(&(0.0, n));
            vec![(None, Standardised::of_level(level, count, n))]
        }
    }
}

/// The outputs that vary: each a number of an output, or a class, with what standardises it.
fn outputs_of(sums: &Sums, method: &'static str) -> Result<Vec<(usize, Standardised)>, Error> {
    let outputs: Vec<(usize, Standardised)> = match &sums.target {
        TargetSums::Real(outputs) => {
            let varying = outputs.iter().enumerate().filter(|(_, moments)| moments.deviations != 0.0);
            let standardised = |(o, moments): (usize, &Moments)| {
                if !is_safe(moments.deviations) {
                    let hint = "take the target in another unit: its squares overflow or vanish".to_owned();
                    return Err(Error::Numerical { what: "the variance of the target", hint });
                }
                Ok((o, Standardised::of_moments(moments, sums.n, 1.0)))
            };
            varying.map(standardised).collect::<Result<_, _>>()?
        }
        TargetSums::Classes(counts) => {
            let mut occurring: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
            if occurring.len() <= 2 {
                // One class is no target, and of two the second says it.
                occurring.drain(..1.min(occurring.len()));
            }
            let output = |class: usize| (class, Standardised::of_level(class as f64, counts[class], sums.n));
            occurring.into_iter().map(output).collect()
        }
    };
    if outputs.is_empty() {
        return Err(unsupported_target(method, "the same in every sample".to_owned()));
    }
    Ok(outputs)
}

impl Model<'_> {
    /// The selection from rows that are read in two passes: for means and deviations, and for the products of
    /// all columns, from which the problem is solved and its gap certified as from a table.
    pub(super) fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let refuse = |what: String| {
            let instead = "leave it out, or read the rows into one table".to_owned();
            Err(Error::Unsupported { method: self.method, what: format!("{what} in passes"), instead })
        };
        let lasso = self.lasso;
        if !lasso.covariates.is_empty() || !lasso.offset.is_empty() {
            return refuse("covariates and an offset".to_owned());
        }
        if lasso.regularization.is_chosen_by_data() {
            return refuse(format!("regularization={}", lasso.regularization));
        }
        let Some(first) = stream.next_batch()? else {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        };
        let data = first.subset(&[0])?;
        let mut returned = Returned { first: Some(first), stream };
        let found = safe_stream_sums(&mut returned, &Survey { method: self.method }, Sums::is_safe, context)?;
        let stream = returned.stream;
        let Some((of_first, _)) = found.first() else {
            return Err(Error::TooFew { what: "features", minimum: 1, found: 0 });
        };
        let loss = lasso.loss.resolved(data.target());
        if loss != LinearLoss::Squared {
            return refuse(format!("loss={}", loss.word()));
        }
        let control = opened(&data, &[budget], lasso.tolerance, context)?;
        let n = of_first.n;
        let outputs = outputs_of(of_first, self.method)?;
        let columns: Vec<Vec<(Option<f64>, Standardised)>> =
            found.iter().map(|(sums, divisor)| columns_of(sums, *divisor)).collect();
        drop(found);
        let products = self.products(stream, &columns, &outputs, n, context)?;
        let source = |(feature, columns): (usize, &Vec<(Option<f64>, Standardised)>)| -> Vec<Source> {
            columns.iter().map(|&(level, _)| Source { feature, level }).collect()
        };
        let sources = columns.iter().enumerate().flat_map(source).collect();
        let (gram, of_outputs) = products;
        let columns = LinearColumns::of_products(&data, sources, gram, of_outputs)?;
        let problem = Problem::new(self, &data, &columns, control, context)?;
        let fit = problem.fit(budget, &mut Tried::none(), context)?;
        problem.selection(&fit, budget, data.n_features())
    }

    /// The products of all columns with each other, and with each output, divided by the number of samples.
    fn products(
        &self,
        stream: &mut dyn SampleStream,
        columns: &[Vec<(Option<f64>, Standardised)>],
        outputs: &[(usize, Standardised)],
        n: usize,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>), Error> {
        let mut widths: Vec<usize> = columns.iter().map(Vec::len).collect();
        let p: usize = widths.iter().sum();
        widths.push(outputs.len());
        let all = p + outputs.len();
        let most = context.memory.unwrap_or(MOST_BYTES);
        let bytes = all.saturating_mul(all).saturating_mul(COPIES_OF_PRODUCTS * size_of::<f64>());
        if bytes > most {
            return Err(Error::Unsupported {
                method: self.method,
                what: format!(
                    "{p} columns in passes: their products need {} MiB, more than the {} MiB there are for sums",
                    bytes >> 20,
                    most >> 20
                ),
                instead: "give it more memory, or leave out features, such as those of small f-score"
                    .to_owned(),
            });
        }
        let write = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            let n = rows.len();
            let out = out.chunks_exact_mut(n.max(1));
            if let Some(columns) = columns.get(source) {
                let mut scratch = Vec::new();
                let column = data.x().column(source, &mut scratch)?.stretch(rows.clone());
                let copied;
                let values = match column {
                    Column::Dense(values) => values,
                    Column::Sparse { rows: stored, values } => {
                        let mut written = vec![0.0; n];
                        stored.iter().zip(values).for_each(|(row, value)| written[row - rows.start] = *value);
                        copied = written;
                        &copied
                    }
                };
                columns.iter().zip(out).for_each(|((_, standard), out)| standard.write(values, out));
                return Ok(());
            }
            for ((number, standard), out) in outputs.iter().zip(out) {
                match data.target() {
                    Target::Real(real) => standard.write(&real.output(*number)[rows.clone()], out),
                    Target::Class(classes) => {
                        let codes: Vec<f64> =
                            classes.codes()[rows.clone()].iter().map(|&code| f64::from(code)).collect();
                        standard.write(&codes, out);
                    }
                    other => return Err(unsupported_target(self.method, other.describe())),
                }
            }
            Ok(())
        };
        rewind(stream)?;
        let made = Made { widths, write: &write };
        let products = stream_products(stream, &made, None, n, most - bytes, context)?;
        let mut gram = Vec::with_capacity(p * p);
        let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value / n as f64).collect() };
        for column in products.chunks_exact(all).take(p) {
            gram.extend(scaled(&column[..p]));
        }
        let of_outputs = products.chunks_exact(all).skip(p).map(|column| scaled(&column[..p])).collect();
        Ok((gram, of_outputs))
    }
}

impl Sums {
    /// Whether no square has overflowed or vanished.
    fn is_safe(&self) -> bool {
        match &self.feature {
            FeatureSums::Number(moments) => is_safe(moments.deviations),
            FeatureSums::Levels(_) => true,
        }
    }
}
