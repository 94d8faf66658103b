//! Links between samples, features or authors.

use fewest::core::Graph as CoreGraph;
use pyo3::prelude::*;

use crate::errors::wrong;

/// Links between nodes.
#[pyclass(frozen, module = "fewest._fewest")]
pub(crate) struct Graph(pub(crate) CoreGraph);

#[pymethods]
impl Graph {
    /// Links `(from, to, weight)` between `n_nodes` nodes, numbered from 0.
    #[new]
    fn new(n_nodes: usize, links: Vec<(usize, usize, f64)>, directed: bool) -> PyResult<Self> {
        let make = if directed { CoreGraph::directed } else { CoreGraph::undirected };
        make(n_nodes, &links).map(Self).map_err(wrong)
    }
}
