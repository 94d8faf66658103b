//! What is to be explained.

use fewest::core::Target as CoreTarget;
use fewest_study::DataInfo;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::errors::wrong;

/// A target: classes, numbers, survival times, affinities, or none.
#[pyclass(frozen, module = "fewest._fewest")]
pub(crate) struct Target(pub(crate) CoreTarget);

#[pymethods]
impl Target {
    #[staticmethod]
    fn none() -> Self {
        Self(CoreTarget::None)
    }

    /// A class for each sample, as the number of its name.
    #[staticmethod]
    fn classes(codes: PyReadonlyArray1<'_, u32>, names: Vec<String>) -> PyResult<Self> {
        CoreTarget::classes(codes.as_array().to_vec(), names).map(Self).map_err(wrong)
    }

    /// Real outputs, one after the other, each of `n_samples` values.
    #[staticmethod]
    fn outputs(values: PyReadonlyArray1<'_, f64>, n_samples: usize) -> PyResult<Self> {
        CoreTarget::outputs(values.as_array().to_vec(), n_samples).map(Self).map_err(wrong)
    }

    /// Times until an event, and whether it happened.
    #[staticmethod]
    fn survival(times: PyReadonlyArray1<'_, f64>, events: Vec<bool>) -> PyResult<Self> {
        CoreTarget::survival(times.as_array().to_vec(), events).map(Self).map_err(wrong)
    }

    /// Its kind in a word, and each class with its number of samples.
    fn described(&self) -> (&'static str, Vec<(String, usize)>) {
        let n_samples = self.0.n_samples().unwrap_or(0);
        let info = DataInfo::of_target("", &self.0, n_samples, 0);
        (info.task, info.classes)
    }

    /// The affinities of all pairs of samples.
    #[staticmethod]
    fn affinity(values: PyReadonlyArray1<'_, f64>, n_samples: usize) -> PyResult<Self> {
        CoreTarget::affinity(values.as_array().to_vec(), n_samples).map(Self).map_err(wrong)
    }
}

/// Whether numbers are classes by the rule of the command: few different whole numbers.
#[pyfunction]
pub(crate) fn are_classes(values: PyReadonlyArray1<'_, f64>) -> bool {
    fewest::data::are_classes(&values.as_array().to_vec())
}
