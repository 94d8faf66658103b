//! Mutual information between features.

use fewest_core::{Context, Dataset, Error};
use fewest_counts::discretisation::Discretisation;
use fewest_counts::{Coded, Scratch};
use fewest_solver::{ColumnCache, InnerProducts};

/// Bytes that entries may take.
const PRODUCT_BYTES: usize = 256 << 20;

/// Entries that one thread computes at a time.
const AT_ONCE: usize = 256;

/// `D`: `I(k;l)` of features over levels, `I(k;k) = H(k)`, and `d`: `I(k;Y)`, in nats. Not the inner products
/// of anything: the matrix need not be positive semidefinite.
pub(super) struct Information {
    coded: Coded,
    pub(super) with_target: Vec<f64>,
    pub(super) entropies: Vec<f64>,
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
    Ok(Information { coded, with_target, entropies, cache })
}

impl Information {
    /// `Dₖₗ` of `rows` and `columns`, laid out as [`InnerProducts::products`] does.
    pub(super) fn entries(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.cache.get(rows, columns, out, |rows, columns, out| self.compute(rows, columns, out))
    }

    fn compute(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let height = rows.len().max(1);
        fewest_parallel::chunks(out, AT_ONCE, |chunk, out| {
            let mut scratch = Scratch::default();
            for (at, value) in (chunk * AT_ONCE..).zip(out) {
                let (row, column) = (rows[at % height], columns[at / height]);
                *value = if row == column {
                    self.entropies[row]
                } else if self.entropies[row] == 0.0 || self.entropies[column] == 0.0 {
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

    /// `D + constant · I` over the features that vary, taken for inner products: `constant` should make it
    /// positive semidefinite, as far as the solver goes.
    pub(super) fn shifted(&self, constant: f64) -> Shifted<'_> {
        let shift = |&entropy: &f64| if entropy > 0.0 { entropy + constant } else { 0.0 };
        let squared_norms = self.entropies.iter().map(shift).collect();
        Shifted { information: self, constant, squared_norms }
    }
}

/// Mutual information with a constant on the diagonal.
pub(super) struct Shifted<'a> {
    information: &'a Information,
    constant: f64,
    squared_norms: Vec<f64>,
}

impl InnerProducts for Shifted<'_> {
    fn target_squared_norm(&self) -> f64 {
        self.information.coded.rows.target_entropy()
    }

    fn target_products(&self) -> &[f64] {
        &self.information.with_target
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.information.entries(rows, columns, out)?;
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (value, &row) in out.iter_mut().zip(rows) {
                if row == column && self.squared_norms[row] > 0.0 {
                    *value += self.constant;
                }
            }
        }
        Ok(())
    }
}
