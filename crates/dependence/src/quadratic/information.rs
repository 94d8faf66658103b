//! Mutual information between features, as inner products.

use fewest_core::{Context, Dataset, Error};
use fewest_counts::discretisation::Discretisation;
use fewest_counts::{Coded, Scratch};
use fewest_solver::{InnerProducts, Remembered};
use rayon::prelude::*;

/// Bytes that products may take.
const PRODUCT_BYTES: usize = 512 << 20;

/// `I(k;l)` of features over levels, `I(k;k) = H(k)`, and `I(k;Y)`, in nats. Not the inner products of anything: the matrix need
/// not be positive semidefinite.
struct Information {
    coded: Coded,
    with_target: Vec<f64>,
    entropies: Vec<f64>,
}

/// The mutual information of every two features, and of each with the target, computed when asked for.
pub(super) fn information(
    data: &Dataset,
    rule: &Discretisation,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Box<dyn InnerProducts + Send>, Error> {
    let coded = Coded::new(data, rule, method, context)?;
    let features = 0..data.n_features();
    let with_target = features.clone().map(|k| coded.relevance(k)).collect();
    // The entropy of one level is 0, and not what rounding leaves.
    let entropy = |k: usize| if coded.features[k].is_constant() { 0.0 } else { coded.entropy(k) };
    let entropies = features.map(entropy).collect();
    Ok(Box::new(Remembered::new(Information { coded, with_target, entropies }, PRODUCT_BYTES)))
}

impl InnerProducts for Information {
    fn n_atoms(&self) -> usize {
        self.entropies.len()
    }

    fn target_squared_norm(&self) -> f64 {
        self.coded.rows.target_entropy()
    }

    fn target_products(&self) -> &[f64] {
        &self.with_target
    }

    fn squared_norms(&self) -> &[f64] {
        &self.entropies
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let height = rows.len().max(1);
        out.par_iter_mut().enumerate().with_min_len(256).for_each_init(
            Scratch::default,
            |scratch, (at, value)| {
                let (row, column) = (rows[at % height], columns[at / height]);
                *value = if row == column {
                    self.entropies[row]
                } else if self.entropies[row] == 0.0 || self.entropies[column] == 0.0 {
                    0.0
                } else {
                    // The smaller index first: tables are summed in its order, so that the matrix is symmetric to the last bit.
                    self.coded.information(row.min(column), row.max(column), scratch)
                };
            },
        );
        Ok(())
    }
}
