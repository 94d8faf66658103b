//! Targets as numbers.

use fewest_core::{Dataset, Error, Target};

use crate::standardise;

/// The outputs, each of mean 0 and standard deviation 1: real ones, ±1 for two classes, an indicator for each
/// of more.
pub fn standardised_outputs(data: &Dataset, method: &'static str) -> Result<Vec<Vec<f64>>, Error> {
    let unsupported =
        |found| Error::UnsupportedTarget { method, expected: "real outputs or classes that vary", found };
    let mut outputs: Vec<Vec<f64>> = match data.target() {
        Target::Real(real) => (0..real.n_outputs()).map(|o| real.output(o).to_vec()).collect(),
        Target::Class(classes) => {
            let counts = classes.counts();
            let mut present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
            if present.len() == 2 {
                present.remove(0);
            }
            let indicator = |&class: &usize| {
                classes.codes().iter().map(|&code| f64::from(code as usize == class)).collect()
            };
            present.iter().map(indicator).collect()
        }
        other => return Err(unsupported(other.describe())),
    };
    outputs.retain_mut(|output| standardise(output));
    if outputs.is_empty() { Err(unsupported("the same in every sample".to_owned())) } else { Ok(outputs) }
}
