//! Subsets of the rows and features of a data set, and data sets combined from rows.

use std::ops::Range;
use std::sync::Arc;

use super::gathered::Copied;
use super::{Dataset, Surroundings, check_not_empty};
use crate::{Columns, Error, FeatureSubset, Survival, Target};

impl Dataset {
    /// The samples of the range `rows`, copied: sparse columns stay sparse. The result does not keep the
    /// table in memory. Of the links between samples, those between two of these samples are kept.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a row does not exist; [`Error::TooFew`] for none;
    /// [`Error::Unsupported`] for a target of affinities, which refer to other samples.
    pub fn copy_rows(&self, rows: Range<usize>) -> Result<Self, Error> {
        if rows.is_empty() {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        if rows.end > self.n_samples() {
            let expected = format!("at most the number of samples, {}", self.n_samples());
            return Err(Error::parameter("rows", rows.end, expected));
        }
        let chosen: Vec<usize> = rows.clone().collect();
        let sample_graph = self.sample_graph.as_ref().map(|graph| graph.subset(&chosen)).transpose()?;
        let authors = self.authors.as_ref().map(|authors| authors.subset(&chosen)).transpose()?;
        let mut stretch = Self::put_together(&[(self, rows)])?;
        stretch.sample_graph = sample_graph.map(Arc::new);
        stretch.authors = authors.map(Arc::new);
        Ok(stretch)
    }

    /// The samples of all `parts` one after the other, copied. Features, their links and views are those
    /// of the first part. Links between samples and their authors are dropped: between samples of two parts
    /// they are unknown.
    ///
    /// # Errors
    /// [`Error::TooFew`] for no part; [`Error::ShapeMismatch`] for parts with different numbers of features;
    /// [`Error::InvalidParameter`] for targets of different kinds or classes; [`Error::Unsupported`] for
    /// affinities.
    pub fn stacked(parts: &[Dataset]) -> Result<Self, Error> {
        let parts: Vec<(&Self, Range<usize>)> =
            parts.iter().map(|part| (part, 0..part.n_samples())).collect();
        Self::put_together(&parts)
    }

    /// The ranges `rows` of each part, one after the other, without links between samples.
    pub(crate) fn put_together(parts: &[(&Self, Range<usize>)]) -> Result<Self, Error> {
        let mut copied = Copied::default();
        let n_samples = parts.iter().map(|(_, rows)| rows.len()).sum();
        parts.iter().try_for_each(|(part, rows)| copied.push(&*part.x, rows.clone(), n_samples))?;
        Self::around(parts, Arc::new(copied))
    }

    /// All but the values of the ranges `rows` of each part, one after the other, without links between
    /// samples; `x` are the values.
    pub(super) fn around(parts: &[(&Self, Range<usize>)], x: Arc<dyn Columns>) -> Result<Self, Error> {
        let Some(&(first, _)) = parts.first() else {
            return Err(Error::TooFew { what: "parts with samples", minimum: 1, found: 0 });
        };
        check_not_empty(&*x)?;
        // All fields are listed, so that the compiler finds a forgotten one.
        Ok(Self {
            x,
            target: targets(parts)?,
            feature_names: first.feature_names.clone(),
            feature_kinds: first.feature_kinds.clone(),
            feature_groups: first.feature_groups.clone(),
            feature_graph: first.feature_graph.clone(),
            views: first.views.clone(),
            sample_ids: each(parts, |part| part.sample_ids.as_deref(), "sample ids")?,
            sample_id_name: first.sample_id_name.clone(),
            sample_weights: each(parts, |part| part.sample_weights.as_deref(), "sample weights")?,
            sample_graph: None,
            authors: None,
            surroundings: None,
        })
    }

    /// The features and the target, without what no sum over rows needs.
    pub(crate) fn plain(&self) -> Self {
        // All fields are listed, so that the compiler finds a forgotten one.
        Self {
            x: Arc::clone(&self.x),
            target: self.target.clone(),
            feature_names: self.feature_names.clone(),
            feature_kinds: self.feature_kinds.clone(),
            feature_groups: None,
            feature_graph: None,
            views: None,
            sample_ids: None,
            sample_id_name: None,
            sample_weights: None,
            sample_graph: None,
            authors: None,
            surroundings: None,
        }
    }

    /// The features `features`, in that order, without copying them.
    ///
    /// A view without chosen features is left out.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a feature does not exist; [`Error::TooFew`] for none.
    pub fn feature_subset(&self, features: &[usize]) -> Result<Self, Error> {
        let x = FeatureSubset::new(Arc::clone(&self.x), features.to_vec())?;
        check_not_empty(&x)?;
        let kinds = self.feature_kinds.as_ref();
        let groups = self.feature_groups.as_ref().map(|groups| groups.subset(features)).transpose()?;
        let graph = self.feature_graph.as_ref().map(|graph| graph.subset(features)).transpose()?;
        let within = |around: &Arc<Surroundings>| {
            Ok(Surroundings { all: around.all.feature_subset(features)?, rows: around.rows.clone() })
        };
        let surroundings = self.surroundings.as_ref().map(within).transpose()?;
        let views = self.views.as_ref().map(|views| views.subset(features)).transpose()?;
        // All fields are listed, so that the compiler finds a forgotten one.
        Ok(Self {
            x: Arc::new(x),
            target: self.target.clone(),
            // Features without a name keep the number as their name.
            feature_names: Some(features.iter().map(|&j| self.feature_name(j)).collect()),
            feature_kinds: kinds.map(|kinds| features.iter().map(|&j| kinds[j].clone()).collect()),
            feature_groups: groups.map(Arc::new),
            feature_graph: graph.map(Arc::new),
            views: views.map(Arc::new),
            sample_ids: self.sample_ids.clone(),
            sample_id_name: self.sample_id_name.clone(),
            sample_weights: self.sample_weights.clone(),
            sample_graph: self.sample_graph.clone(),
            authors: self.authors.clone(),
            surroundings: surroundings.map(Arc::new),
        })
    }
}

fn targets(parts: &[(&Dataset, Range<usize>)]) -> Result<Target, Error> {
    let different = |found: &Target, first: &Target| {
        let expected = format!("{} as in the batches before", first.describe());
        Error::parameter("target of a batch", found.describe(), expected)
    };
    let first = parts[0].0.target();
    match first {
        Target::None => match parts.iter().find(|(part, _)| *part.target() != Target::None) {
            None => Ok(Target::None),
            Some((part, _)) => Err(different(part.target(), first)),
        },
        Target::Class(classes) => {
            let mut codes = Vec::new();
            for (part, rows) in parts {
                match part.target() {
                    Target::Class(own) if own.names() == classes.names() => {
                        codes.extend_from_slice(&own.codes()[rows.clone()]);
                    }
                    other => return Err(different(other, first)),
                }
            }
            Target::classes(codes, classes.names().to_vec())
        }
        Target::Real(outputs) => {
            let mut values = Vec::new();
            for output in 0..outputs.n_outputs() {
                for (part, rows) in parts {
                    match part.target() {
                        Target::Real(own) if own.n_outputs() == outputs.n_outputs() => {
                            values.extend_from_slice(&own.output(output)[rows.clone()]);
                        }
                        other => return Err(different(other, first)),
                    }
                }
            }
            let n_samples = parts.iter().map(|(_, rows)| rows.len()).sum();
            Target::outputs(values, n_samples)
        }
        Target::Survival(_) => {
            let (mut times, mut events) = (Vec::new(), Vec::new());
            for (part, rows) in parts {
                match part.target() {
                    Target::Survival(own) => {
                        times.extend_from_slice(&own.times()[rows.clone()]);
                        events.extend_from_slice(&own.events()[rows.clone()]);
                    }
                    other => return Err(different(other, first)),
                }
            }
            // A stretch of the rows of a table may have no event.
            Ok(Target::Survival(Survival::of_rows(times, events)))
        }
        Target::Affinity(_) => Err(Error::Unsupported {
            method: "a batch of samples",
            what: "an affinity matrix".to_owned(),
            instead: "give classes or real outputs as target".to_owned(),
        }),
    }
}

/// A property of each sample, if all parts have it; `None` if no part has it.
fn each<'a, T: Clone + 'a>(
    parts: &[(&'a Dataset, Range<usize>)],
    of: impl Fn(&'a Dataset) -> Option<&'a [T]>,
    what: &'static str,
) -> Result<Option<Vec<T>>, Error> {
    let mut all = Vec::new();
    let mut with = 0;
    for (part, rows) in parts {
        if let Some(values) = of(part) {
            all.extend_from_slice(&values[rows.clone()]);
            with += 1;
        }
    }
    match with {
        0 => Ok(None),
        _ if with == parts.len() => Ok(Some(all)),
        _ => Err(Error::parameter(what, "in some batches only", "in all batches or in none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseColumns;

    /// Rows 0 to 2 of four have no event: a batch of them is no error, and all rows together are as before.
    #[test]
    fn rows_without_an_event_are_a_batch() -> Result<(), Error> {
        let target = Target::survival(vec![4.0, 3.0, 2.0, 1.0], vec![false, false, false, true])?;
        let data = Dataset::new(DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0, 4.0]])?, target)?;
        let (first, last) = (data.copy_rows(0..3)?, data.copy_rows(3..4)?);
        let Target::Survival(rows) = first.target() else { panic!("{}", first.target().describe()) };
        assert_eq!((rows.times(), rows.n_events()), (&[4.0, 3.0, 2.0][..], 0));
        assert_eq!(Dataset::stacked(&[first, last])?.target(), data.target());
        Ok(())
    }
}
