//! Targets as numbers.

use fewest_core::{Column, Context, Error, Target, room};

use crate::{Standard, Weights, range};

/// An output that varies, standardised.
#[derive(Debug, Clone, PartialEq)]
pub struct StandardOutput {
    /// Its number, from 0, among all that there are.
    pub number: usize,
    /// One for each sample, of mean 0 and standard deviation 1.
    pub values: Vec<f64>,
    /// The standard deviation that it had.
    pub deviation: f64,
}

/// The outputs, each of mean 0 and standard deviation 1: real ones, ±1 for two classes, an indicator for each
/// of more.
///
/// # Errors
/// [`Error::UnsupportedTarget`] for a target of another kind, or that does not vary; [`Error::Stopped`] when
/// the context says so: with thousands of classes the indicators are work.
pub fn standardised_outputs(
    target: &Target,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<Vec<f64>>, Error> {
    let outputs = weighted_outputs(target, None, method, context)?;
    Ok(outputs.into_iter().map(|output| output.values).collect())
}

/// [`standardised_outputs`] with means over samples that have `weights`. An output that does not vary among
/// samples that count is left out.
///
/// # Errors
/// As [`standardised_outputs`].
pub fn weighted_outputs(
    target: &Target,
    weights: Option<&Weights>,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<StandardOutput>, Error> {
    let unsupported =
        |found| Error::UnsupportedTarget { method, expected: "real outputs or classes that vary", found };
    let mut outputs = Vec::new();
    let mut number = 0;
    let mut add = |mut values: Vec<f64>| {
        if context.stopped().is_some() {
            return Err(Error::Stopped { before: "the target was standardised" });
        }
        let standard = match weights {
            Some(weights) => Standard::weighted(Column::Dense(&values), weights),
            None => Standard::of(&values, range(&values)),
        };
        if let Some(standard) = standard {
            standard.apply(&mut values);
            outputs.push(StandardOutput { number, values, deviation: standard.deviation() });
        }
        number += 1;
        Ok(())
    };
    match target {
        Target::Real(real) => (0..real.n_outputs()).try_for_each(|o| add(real.output(o).to_vec()))?,
        Target::Class(classes) => {
            let mut occurring = classes.occurring();
            if occurring.len() == 2 {
                occurring.remove(0);
            }
            let size = [occurring.len(), classes.codes().len()];
            let instead = "are these classes, or names? use fewer samples or classes";
            drop(room("memory for an indicator of each class", &size, method, instead)?);
            let indicator = |class| classes.codes().iter().map(|&code| f64::from(code == class)).collect();
            occurring.into_iter().try_for_each(|class| add(indicator(class)))?;
        }
        other => return Err(unsupported(other.describe())),
    }
    if outputs.is_empty() { Err(unsupported("the same in every sample".to_owned())) } else { Ok(outputs) }
}
