//! Targets as numbers.

use fewest_core::{Error, Target};

use crate::standardise;

/// The outputs, each of mean 0 and standard deviation 1: real ones, ±1 for two classes, an indicator for each
/// of more.
pub fn standardised_outputs(target: &Target, method: &'static str) -> Result<Vec<Vec<f64>>, Error> {
    let unsupported =
        |found| Error::UnsupportedTarget { method, expected: "real outputs or classes that vary", found };
    let mut outputs: Vec<Vec<f64>> = match target {
        Target::Real(real) => (0..real.n_outputs()).map(|o| real.output(o).to_vec()).collect(),
        Target::Class(classes) => {
            let mut occurring = classes.occurring();
            if occurring.len() == 2 {
                occurring.remove(0);
            }
            let indicator = |class| classes.codes().iter().map(|&code| f64::from(code == class)).collect();
            occurring.into_iter().map(indicator).collect()
        }
        other => return Err(unsupported(other.describe())),
    };
    outputs.retain_mut(|output| standardise(output));
    if outputs.is_empty() { Err(unsupported("the same in every sample".to_owned())) } else { Ok(outputs) }
}
