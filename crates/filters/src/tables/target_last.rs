//! The target of a stream as a feature.

use std::sync::Arc;

use fewest_core::{Column, Columns, Dataset, Error, FeatureKind, RowSums, SampleStream, Target};

/// A stream with its target as one more feature behind the others: a number where it is one real output, and
/// a category where it is classes. So the pass that finds the bounds of the bins of features finds those of a
/// real target, too.
pub(super) struct TargetLast<'a> {
    pub(super) stream: &'a mut dyn SampleStream,
    pub(super) method: &'static str,
}

impl SampleStream for TargetLast<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.stream.next_batch()?.map(|batch| target_last(&batch, self.method)).transpose()
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.stream.rewind()
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        self.stream.sum_elsewhere(&OfTargetLast { sums, method: self.method })
    }
}

/// Sums over the features and the target.
struct OfTargetLast<'a> {
    sums: &'a dyn RowSums,
    method: &'static str,
}

impl RowSums for OfTargetLast<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        self.sums.of_part(&mut TargetLast { stream: part, method: self.method }, first_batch)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        self.sums.of_all(parts)
    }
}

fn target_last(batch: &Dataset, method: &'static str) -> Result<Dataset, Error> {
    batch.refuse_sample_weights(method)?;
    let (kind, target) = match batch.target() {
        Target::Class(classes) => {
            let codes = classes.codes().iter().map(|code| f64::from(*code)).collect();
            // The names are of no use here.
            (FeatureKind::Categorical { levels: Vec::new() }, codes)
        }
        Target::Real(outputs) if outputs.n_outputs() == 1 => {
            (FeatureKind::Numeric, outputs.output(0).to_vec())
        }
        other => {
            let expected = "classes or one real output";
            return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
        }
    };
    let features = 0..batch.n_features();
    let names = features.clone().map(|j| batch.feature_name(j)).chain(["the target".to_owned()]).collect();
    let kinds = features.map(|j| batch.feature_kind(j).clone()).chain([kind]).collect();
    let data = Dataset::new(WithLast { x: batch.shared_x(), last: target }, Target::None)?;
    data.with_feature_names(names)?.with_feature_kinds(kinds)
}

/// A table with one more column.
struct WithLast {
    x: Arc<dyn Columns>,
    last: Vec<f64>,
}

impl Columns for WithLast {
    fn n_samples(&self) -> usize {
        self.x.n_samples()
    }

    fn n_features(&self) -> usize {
        self.x.n_features() + 1
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        if j < self.x.n_features() { self.x.column(j, scratch) } else { Ok(Column::Dense(&self.last)) }
    }
}
