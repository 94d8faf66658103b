//! The methods and their parameters, as Python's own types.

use fewest::core::Arrives;
use fewest::core::method::Value;
use fewest::eval::stability::nogueira;
use fewest::registry::{LinkTable, Method, Parameter, Range, Registry};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::wrong;

/// Every method of the registry: a dictionary each, in the order of the registry.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let registry = Registry::standard();
    let list = PyList::empty(py);
    for method in registry.methods() {
        list.append(described(py, registry, method)?)?;
    }
    Ok(list)
}

/// The id of the method that is meant by a name.
#[pyfunction]
pub(crate) fn find(name: &str) -> PyResult<&'static str> {
    Registry::standard().find(name).map(|method| method.id).map_err(wrong)
}

/// How much the sets of features that folds selected agree (Nogueira et al. 2018); nothing where it has no
/// meaning.
#[pyfunction]
pub(crate) fn stability(selections: Vec<Vec<usize>>, n_features: usize) -> Option<f64> {
    let selections: Vec<&[usize]> = selections.iter().map(Vec::as_slice).collect();
    nogueira(&selections, n_features, 0.95).ok().map(|stability| stability.phi)
}

fn described<'py>(py: Python<'py>, registry: &Registry, method: &Method) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    about.set_item("id", method.id)?;
    about.set_item("title", method.title)?;
    about.set_item("formula", method.formula)?;
    about.set_item("kind", method.kind.name())?;
    about.set_item("nested", method.is_nested())?;
    about.set_item("family", registry.family(method).map(|family| family.id))?;
    about.set_item("aliases", registry.aliases(method).collect::<Vec<_>>())?;
    about.set_item("targets", method.targets.iter().map(|kind| kind.name()).collect::<Vec<_>>())?;
    about.set_item("supervised", method.is_supervised())?;
    about.set_item("needs_views", method.needs_views)?;
    let tables = method.links.iter().map(|(table, _)| match table {
        LinkTable::Samples => "sample_graph",
        LinkTable::Authors => "authors",
        _ => "follows",
    });
    about.set_item("links", tables.collect::<Vec<_>>())?;
    about.set_item(
        "arrives",
        method.arrives.map(|arrives| match arrives {
            Arrives::Samples => "samples",
            _ => "features",
        }),
    )?;
    let parameters = PyList::empty(py);
    for parameter in method.parameters() {
        parameters.append(parameter_described(py, &parameter)?)?;
    }
    about.set_item("parameters", parameters)?;
    Ok(about)
}

fn parameter_described<'py>(py: Python<'py>, parameter: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    about.set_item("name", parameter.name)?;
    match &parameter.default {
        None => about.set_item("default", py.None())?,
        Some(Value::Real(value)) => about.set_item("default", value)?,
        Some(Value::Count(value)) => about.set_item("default", value)?,
        Some(Value::Features(indices)) => about.set_item("default", indices)?,
        Some(word) => about.set_item("default", word.to_string())?,
    }
    about.set_item(
        "kind",
        match parameter.range {
            Range::Count(_) | Range::Between(..) => "int",
            Range::OneOf(_) => "word",
            Range::Features => "features",
            _ => "float",
        },
    )?;
    about.set_item("words", parameter.range.words())?;
    about.set_item("range", parameter.range.to_string())?;
    about.set_item("description", parameter.description())?;
    about.set_item("condition", parameter.condition())?;
    about.set_item("decides_count", parameter.decides_count)?;
    about.set_item("group_word", parameter.group_word)?;
    Ok(about)
}
