//! Standardised features and outputs as atoms of a linear model.

use fewest_core::{Context, Dataset, Error, FeatureKind, order};
use fewest_linalg::dot_products;
use fewest_solver::{Atoms, InnerProducts};

use fewest_columns::{finite_values, standardise, standardised_outputs};

/// Columns multiplied at a time.
const PANEL: usize = 64;

/// Columns built between two checks of the clock.
const ROUND: usize = 512;

/// Bytes that standardised columns may take; beyond, they are built again when needed.
const MOST_BYTES: usize = 1 << 30;

/// One column of the linear model: a feature, or one level of a categorical feature with more than two.
struct Source {
    feature: usize,
    level: Option<f64>,
}

/// Columns of mean 0 and standard deviation 1, with products divided by the number of samples.
pub(super) struct LinearColumns<'a> {
    data: &'a Dataset,
    sources: Vec<Source>,
    /// Every column, or nothing where they take too much memory.
    values: Vec<f64>,
    /// With the first output as target.
    atoms: Atoms,
    /// `xⱼᵀ yₒ / n` of every column, output by output.
    pub(super) outputs: Vec<Vec<f64>>,
}

impl<'a> LinearColumns<'a> {
    pub(super) fn new(data: &'a Dataset, method: &'static str, context: &Context<'_>) -> Result<Self, Error> {
        let n = data.n_samples();
        data.refuse_sample_weights(method)?;
        let targets = standardised_outputs(data.target(), method, context)?;
        let mut sources = Vec::new();
        for j in 0..data.n_features() {
            sources.extend(Source::of(data, j)?);
        }
        let keep = sources.len().saturating_mul(n).saturating_mul(size_of::<f64>()) <= MOST_BYTES;
        let target_values = targets.concat();
        let mut built = Self {
            data,
            sources,
            values: Vec::new(),
            atoms: Atoms { target_squared_norm: 1.0, ..Atoms::default() },
            outputs: vec![Vec::new(); targets.len()],
        };
        let go_on = || context.go_on("every feature had been seen once");
        for first in (0..built.sources.len()).step_by(ROUND) {
            go_on()?;
            let last = built.sources.len().min(first + ROUND);
            let columns = fewest_parallel::try_map(last - first, |at| built.build(first + at))?;
            for (values, varies) in columns {
                // With many outputs or samples one feature is work enough.
                go_on()?;
                let mut products = vec![0.0; targets.len()];
                dot_products(&values, &target_values, n, &mut products);
                for (output, product) in built.outputs.iter_mut().zip(products) {
                    output.push(product / n as f64);
                }
                built.atoms.squared_norms.push(if varies { 1.0 } else { 0.0 });
                if keep {
                    built.values.extend(values);
                }
            }
            context.report("correlation with the target", last, built.sources.len());
        }
        built.atoms.target_products = built.outputs.first().cloned().unwrap_or_default();
        Ok(built)
    }

    /// Column `column` standardised, or zeros with `false` where it is constant.
    fn build(&self, column: usize) -> Result<(Vec<f64>, bool), Error> {
        let Source { feature, level } = self.sources[column];
        let mut values = finite_values(self.data, feature)?;
        if let Some(level) = level {
            values.iter_mut().for_each(|value| *value = f64::from(*value == level));
        }
        let varies = standardise(&mut values);
        if !varies {
            values.fill(0.0);
        }
        Ok((values, varies))
    }

    /// The feature a column belongs to.
    pub(super) fn feature(&self, column: usize) -> usize {
        self.sources[column].feature
    }

    /// Whether a column is one of several that a categorical feature has.
    pub(super) fn is_level(&self, column: usize) -> bool {
        self.sources[column].level.is_some()
    }

    fn gather(&self, columns: &[usize]) -> Result<Vec<f64>, Error> {
        let n = self.data.n_samples();
        let mut gathered = Vec::with_capacity(columns.len() * n);
        for &column in columns {
            if self.values.is_empty() {
                gathered.extend(self.build(column)?.0);
            } else {
                gathered.extend_from_slice(&self.values[column * n..(column + 1) * n]);
            }
        }
        Ok(gathered)
    }
}

impl Source {
    /// The columns of feature `j`: itself, or its levels when it has more than two.
    fn of(data: &Dataset, j: usize) -> Result<Vec<Self>, Error> {
        if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
            let levels = order::distinct(finite_values(data, j)?);
            if levels.len() > 2 {
                return Ok(levels.into_iter().map(|level| Self { feature: j, level: Some(level) }).collect());
            }
        }
        Ok(vec![Self { feature: j, level: None }])
    }
}

impl InnerProducts for LinearColumns<'_> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        let n = self.data.n_samples();
        let right = self.gather(columns)?;
        let panels = fewest_parallel::try_map(rows.len().div_ceil(PANEL), |at| {
            let panel = &rows[at * PANEL..rows.len().min((at + 1) * PANEL)];
            let mut products = vec![0.0; panel.len() * columns.len()];
            dot_products(&self.gather(panel)?, &right, n, &mut products);
            Ok::<Vec<f64>, Error>(products)
        })?;
        for (at, (panel, products)) in rows.chunks(PANEL).zip(panels).enumerate() {
            for (position, products) in products.chunks_exact(panel.len()).enumerate() {
                let start = position * rows.len() + at * PANEL;
                for (value, product) in out[start..start + panel.len()].iter_mut().zip(products) {
                    *value = product / n as f64;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fewest_core::{OnDemand, Target};

    use super::*;

    /// Where columns are built anew for every product, one that cannot be read any more is not one of zeros.
    #[test]
    fn products_of_a_column_that_fails_are_an_error() -> Result<(), Error> {
        let reads = AtomicUsize::new(0);
        let wave = move |j: usize, out: &mut [f64]| {
            if j == 3 && reads.fetch_add(1, Ordering::Relaxed) > 0 {
                return Err(Error::unreadable(j, "the disk is gone"));
            }
            out.iter_mut().enumerate().for_each(|(i, value)| *value = ((i * (j + 2)) % 11) as f64);
            Ok(())
        };
        let data = Dataset::new(OnDemand::new(10, 5, wave), Target::real((0..10).map(f64::from).collect())?)?;
        let mut columns = LinearColumns::new(&data, "lasso", &Context::default())?;
        let mut kept = [0.0; 4];
        columns.products(&[1, 2], &[0, 4], &mut kept)?;
        columns.values.clear();
        let mut built = [0.0; 4];
        columns.products(&[1, 2], &[0, 4], &mut built)?;
        assert_eq!(built, kept);
        for (rows, others) in [([1, 3], [0, 4]), ([0, 4], [3, 1])] {
            let found = columns.products(&rows, &others, &mut built);
            assert_eq!(found, Err(Error::unreadable(3, "the disk is gone")));
        }
        Ok(())
    }
}
