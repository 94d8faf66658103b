//! Targets as numbers.

use fewest_core::{Context, Error, Target};

use crate::standardise;

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
    let unsupported =
        |found| Error::UnsupportedTarget { method, expected: "real outputs or classes that vary", found };
    let mut outputs = Vec::new();
    let mut add = |mut output: Vec<f64>| {
        if context.stopped().is_some() {
            return Err(Error::Stopped { before: "the target was standardised" });
        }
        if standardise(&mut output) {
            outputs.push(output);
        }
        Ok(())
    };
    match target {
        Target::Real(real) => (0..real.n_outputs()).try_for_each(|o| add(real.output(o).to_vec()))?,
        Target::Class(classes) => {
            let mut occurring = classes.occurring();
            if occurring.len() == 2 {
                occurring.remove(0);
            }
            let indicator = |class| classes.codes().iter().map(|&code| f64::from(code == class)).collect();
            occurring.into_iter().try_for_each(|class| add(indicator(class)))?;
        }
        other => return Err(unsupported(other.describe())),
    }
    if outputs.is_empty() { Err(unsupported("the same in every sample".to_owned())) } else { Ok(outputs) }
}
