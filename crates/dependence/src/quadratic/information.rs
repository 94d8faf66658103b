//! Mutual information between features.

use fewest_core::{Context, Dataset, Error};
use fewest_counts::discretisation::Discretisation;
use fewest_counts::{Coded, Scratch};
use fewest_solver::{Atoms, ColumnCache, InnerProducts};

/// Bytes that entries may take.
const PRODUCT_BYTES: usize = 256 << 20;

/// Entries that one thread computes at a time.
const AT_ONCE: usize = 256;

/// `D`: `I(k;l)` of features over levels, `I(k;k) = H(k)`, and `d`: `I(k;Y)`, in nats. Taken for inner
/// products, though they are not those of anything: the matrix need not be positive semidefinite.
pub(super) struct Information {
    coded: Coded,
    atoms: Atoms,
    cache: ColumnCache,
}

/// The mutual information of every two features, and of each with the target, computed when asked for.
pub(super) fn information(
    data: &Dataset,
    rule: &Discretisation,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Information, Error> {
    let coded = Coded::new(data, rule, method, context)?;
    let features = 0..data.n_features();
    let with_target = features.clone().map(|k| coded.relevance(k)).collect();
    // The entropy of one level is 0, and not what rounding leaves.
    let entropy = |k: usize| if coded.features[k].is_constant() { 0.0 } else { coded.entropy(k) };
    let entropies: Vec<f64> = features.map(entropy).collect();
    let cache = ColumnCache::new(entropies.len(), PRODUCT_BYTES);
    let atoms = Atoms {
        target_squared_norm: coded.rows.target_entropy(),
        target_products: with_target,
        squared_norms: entropies,
        ..Atoms::default()
    };
    Ok(Information { coded, atoms, cache })
}

impl Information {
    fn compute(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let height = rows.len().max(1);
        let entropies = self.squared_norms();
        fewest_parallel::chunks(out, AT_ONCE, |chunk, out| {
            let mut scratch = Scratch::default();
            for (at, value) in (chunk * AT_ONCE..).zip(out) {
                let (row, column) = (rows[at % height], columns[at / height]);
                *value = if row == column {
                    entropies[row]
                } else if entropies[row] == 0.0 || entropies[column] == 0.0 {
                    0.0
                } else {
                    // The smaller index first: tables are summed in its order, so that the matrix is
                    // symmetric to the last bit.
                    self.coded.information(row.min(column), row.max(column), &mut scratch)
                };
            }
        });
        Ok(())
    }
}

impl InnerProducts for Information {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.cache.get(rows, columns, out, |rows, columns, out| self.compute(rows, columns, out))
    }
}
