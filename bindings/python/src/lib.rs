//! The module `fewest._fewest`: what the Python package `fewest` needs of the library.
//!
//! Nothing numerical is done here. Tables are read where they lie in memory, methods are those of the
//! registry, and results are the arrays and the document that the command writes.

mod catalogue;
mod data;
mod errors;
mod graphs;
mod report;
mod run;
mod select;
mod stream;
mod tables;
mod target;

use pyo3::prelude::*;

#[pymodule]
fn _fewest(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", fewest_study::VERSION)?;
    module.add("NotYet", module.py().get_type::<errors::NotYet>())?;
    module.add_class::<tables::Table>()?;
    module.add_class::<target::Target>()?;
    module.add_class::<graphs::Graph>()?;
    module.add_class::<data::Data>()?;
    module.add_class::<report::Found>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(catalogue::methods, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::find, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::stability, module)?)?;
    module.add_function(wrap_pyfunction!(target::are_classes, module)?)?;
    module.add_function(wrap_pyfunction!(select::select, module)?)?;
    module.add_function(wrap_pyfunction!(report::evaluation, module)?)?;
    Ok(())
}
