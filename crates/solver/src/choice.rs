//! Which solver a method uses.

use std::fmt;
use std::sync::Arc;

use fewest_core::Error;
use fewest_core::method::{Field, FieldInfo, Parameter, Parameters, Range, Value};

use crate::QuadraticSolver;

/// The solver.
///
/// As a field of [`options!`](fewest_core::options) it is a parameter, with `auto` as its only word unless it
/// starts from [`SolverChoice::AutoOr`] and so knows the solvers that words stand for.
#[derive(Clone, Default)]
pub enum SolverChoice {
    /// The exact path where there is one (l1 and elastic net by number of features), else coordinate descent.
    #[default]
    Auto,
    /// The same, unless the parameter names one of these: the default in a registry with solvers.
    AutoOr(&'static NamedSolvers),
    /// This one, of one of the crates under `crates/solvers` or of another crate. If a number of features is
    /// requested, the path finds λ, and this solver solves the problem at that λ from zero.
    Use(Arc<dyn QuadraticSolver>),
}

/// Solvers by their names as words.
#[derive(Debug)]
pub struct NamedSolvers {
    /// The words; the first, `auto`, names no solver.
    pub words: &'static [&'static str],
    /// The solver that a word names, with its defaults.
    pub find: fn(&str) -> Option<Arc<dyn QuadraticSolver>>,
}

impl SolverChoice {
    /// The solver that was chosen; `None` for the automatic one.
    pub fn chosen(&self) -> Option<&dyn QuadraticSolver> {
        match self {
            Self::Auto | Self::AutoOr(_) => None,
            Self::Use(solver) => Some(&**solver),
        }
    }
}

impl fmt::Debug for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.chosen().map_or("Auto", |solver| solver.name()))
    }
}

impl Field for SolverChoice {
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter> {
        let words = match self {
            Self::Auto => &["auto"],
            Self::AutoOr(known) => known.words,
            Self::Use(_) => return Vec::new(),
        };
        vec![field.parameter(Range::OneOf(words), Some(Value::Word("auto")))]
    }

    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        if let Self::AutoOr(known) = self
            && let Some(solver) = (known.find)(parameters.word(field.name)?)
        {
            *self = Self::Use(solver);
        }
        Ok(())
    }

    fn check_field(&self, _: &FieldInfo) -> Result<(), Error> {
        Ok(())
    }
}
