//! A table with its target and all that is known of its samples and features.

use fewest::core::{Authors, Column, Dataset, Error, Groups, Views};
use fewest::data::Missing;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::errors::{of_run, wrong};
use crate::graphs::Graph;
use crate::tables::Table;
use crate::target::Target;

/// A data set. Every `with_…` returns another one; the features are shared, not copied.
#[pyclass(frozen, module = "fewest._fewest")]
pub(crate) struct Data {
    pub(crate) dataset: Dataset,
    pub(crate) missing: Missing,
}

impl Data {
    fn with(&self, change: impl FnOnce(Dataset) -> Result<Dataset, Error>) -> PyResult<Self> {
        change(self.dataset.clone()).map(|dataset| Self { dataset, missing: self.missing }).map_err(wrong)
    }
}

#[pymethods]
impl Data {
    #[new]
    fn new(table: &Table, target: &Target) -> PyResult<Self> {
        let make = || {
            let mut dataset = Dataset::shared(table.x.clone(), target.0.clone())?;
            if let Some(names) = &table.names {
                dataset = dataset.with_feature_names(names.clone())?;
            }
            if let Some(kinds) = &table.kinds {
                dataset = dataset.with_feature_kinds(kinds.clone())?;
            }
            Ok(dataset)
        };
        make().map(|dataset| Self { dataset, missing: Missing::Error }).map_err(|error: Error| wrong(error))
    }

    fn with_names(&self, names: Vec<String>) -> PyResult<Self> {
        self.with(|data| data.with_feature_names(names))
    }

    fn with_weights(&self, weights: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        self.with(|data| data.with_sample_weights(weights.as_array().to_vec()))
    }

    /// With a group number for each feature.
    fn with_partition(&self, group_of: Vec<usize>) -> PyResult<Self> {
        self.with(|data| data.with_feature_groups(Groups::partition(group_of)))
    }

    /// With sets of features that may overlap.
    fn with_sets(&self, sets: Vec<Vec<usize>>) -> PyResult<Self> {
        self.with(|data| {
            let groups = Groups::overlapping(data.n_features(), sets)?;
            data.with_feature_groups(groups)
        })
    }

    /// With groups within groups, by the parent of each feature and then of each group.
    fn with_tree(&self, parents: Vec<Option<usize>>) -> PyResult<Self> {
        self.with(|data| {
            let groups = Groups::tree(data.n_features(), parents)?;
            data.with_feature_groups(groups)
        })
    }

    fn with_views(&self, views: Vec<(String, Vec<usize>)>) -> PyResult<Self> {
        self.with(|data| {
            let views = Views::new(data.n_features(), views)?;
            data.with_views(views)
        })
    }

    fn with_feature_graph(&self, graph: &Graph) -> PyResult<Self> {
        self.with(|data| data.with_feature_graph(graph.0.clone()))
    }

    fn with_sample_graph(&self, graph: &Graph) -> PyResult<Self> {
        self.with(|data| data.with_sample_graph(graph.0.clone()))
    }

    fn with_authors(&self, of_sample: Vec<usize>, follows: &Graph) -> PyResult<Self> {
        self.with(|data| data.with_authors(Authors::new(of_sample, follows.0.clone())?))
    }

    /// Without missing values, by the policy of this name: last, since samples may be left out.
    fn complete(&self, py: Python<'_>, policy: &str) -> PyResult<Self> {
        let missing = policy.parse::<Missing>().map_err(wrong)?;
        let dataset = py.detach(|| match missing {
            Missing::Error => Ok(self.dataset.clone()),
            Missing::DropRows => without_gaps(&self.dataset)?.ok_or_else(no_sample_left),
            Missing::Mean | Missing::Median => missing.fill(&self.dataset, &self.dataset),
        });
        dataset.map(|dataset| Self { dataset, missing }).map_err(|error| of_run(&error))
    }

    /// Samples and features.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.dataset.n_samples(), self.dataset.n_features())
    }
}

/// The samples that have a value of every feature, if there are any.
pub(crate) fn without_gaps(data: &Dataset) -> Result<Option<Dataset>, Error> {
    let mut has_gap = vec![false; data.n_samples()];
    let mut scratch = Vec::new();
    for j in 0..data.n_features() {
        match data.x().column(j, &mut scratch)? {
            Column::Dense(values) => {
                for (gap, value) in has_gap.iter_mut().zip(values) {
                    *gap |= value.is_nan();
                }
            }
            Column::Sparse { rows, values } => {
                for (&row, value) in rows.iter().zip(values) {
                    has_gap[row] |= value.is_nan();
                }
            }
        }
    }
    let rows: Vec<usize> = (0..has_gap.len()).filter(|&row| !has_gap[row]).collect();
    match rows.len() {
        0 => Ok(None),
        len if len == has_gap.len() => Ok(Some(data.clone())),
        _ => data.subset(&rows).map(Some),
    }
}

fn no_sample_left() -> Error {
    Error::parameter("missing", "drop-rows", "another policy: no sample has a value of every feature")
}
