//! Standardised features as columns of a linear machine, sparse ones kept sparse.

use fewest_columns::{map_features, seed_of_values};
use fewest_core::{Column, Context, Dataset, Error, FeatureKind, order};
use fewest_solver::{Control, LinearOperator};
use nalgebra::DMatrix;

use fewest_columns::{Standard, standardise};
use fewest_linalg::dot;

/// Columns that a thread takes at a time.
const PANEL: usize = 64;

/// Most columns of one matrix product, and the fewest.
const BLOCK: usize = 512;
const LEAST_BLOCK: usize = 64;

/// A column of mean 0 and standard deviation 1 (dividing by n), or of zeros where all values are equal.
#[derive(Debug, Clone)]
enum Stored {
    Dense(Vec<f64>),
    /// The values at `rows`, and 0 elsewhere, both less `shift`.
    Sparse {
        rows: Vec<usize>,
        values: Vec<f64>,
        shift: f64,
    },
    Constant,
}

/// The standardised features; a category of more than two levels has an indicator column a level.
#[derive(Debug, Clone)]
pub(super) struct Design {
    n_samples: usize,
    n_features: usize,
    columns: Vec<Stored>,
    /// The feature of each column.
    features: Vec<usize>,
}

impl Design {
    pub(super) fn new(data: &Dataset, method: &'static str, context: &Context<'_>) -> Result<Self, Error> {
        data.refuse_sample_weights(method)?;
        let n = data.n_samples();
        let built = map_features(data, context, "standardising", |j, column| {
            Ok(match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => Stored::levels(column, n),
                _ => vec![Stored::standardised(column, n)],
            })
        })?;
        let features = built.iter().enumerate().flat_map(|(j, columns)| vec![j; columns.len()]).collect();
        let columns = built.into_iter().flatten().collect();
        Ok(Self { n_samples: n, n_features: data.n_features(), columns, features })
    }

    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// The feature that column `j` belongs to.
    pub(super) fn feature(&self, j: usize) -> usize {
        self.features[j]
    }

    /// A seed a column, by its values and `seed`, whatever the order of columns and samples.
    pub(super) fn seeds(&self, seed: u64) -> Vec<u64> {
        fewest_parallel::map(self.columns.len(), |j| {
            let mut values = vec![0.0; self.n_samples];
            self.columns[j].write(&mut values);
            seed_of_values(seed, values)
        })
    }

    /// The samples `rows`, standardised as before.
    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let columns =
            fewest_parallel::map(self.columns.len(), |at| self.columns[at].subset(rows, self.n_samples));
        Self { n_samples: rows.len(), columns, features: self.features.clone(), ..*self }
    }

    /// The columns `kept` alone.
    pub(super) fn restrict(&self, kept: &[usize]) -> Self {
        let columns = kept.iter().map(|&j| self.columns[j].clone()).collect();
        Self { columns, features: kept.iter().map(|&j| self.features[j]).collect(), ..*self }
    }

    /// `Σⱼ scaleⱼ² xⱼ xⱼᵀ`, the linear kernel of the samples with column `j` multiplied by `scaleⱼ`; without
    /// `scales` all are 1.
    ///
    /// # Errors
    /// [`Error::Stopped`] when `control` says so between two blocks of columns.
    pub(super) fn gram(&self, scales: Option<&[f64]>, control: &Control<'_>) -> Result<Vec<f64>, Error> {
        let n = self.n_samples;
        let mut gram = DMatrix::zeros(n, n);
        let scale = |j: usize| scales.map_or(1.0, |scales| scales[j]);
        let used: Vec<usize> = (0..self.columns.len()).filter(|&j| scale(j) != 0.0).collect();
        // Many samples make a block dear: fewer columns are then taken at a time.
        let block = (BLOCK * BLOCK / n.max(1)).clamp(LEAST_BLOCK, BLOCK);
        for block in used.chunks(block) {
            control.go_on("the first machine was trained")?;
            let mut panel = DMatrix::zeros(n, block.len());
            for (&j, mut out) in block.iter().zip(panel.column_iter_mut()) {
                self.columns[j].write(out.as_mut_slice());
                out *= scale(j);
            }
            gram.gemm(1.0, &panel, &panel.transpose(), 1.0);
        }
        // A product need not round alike on both sides of the diagonal.
        for j in 0..n {
            for i in 0..j {
                gram[(i, j)] = gram[(j, i)];
            }
        }
        Ok(gram.as_slice().to_vec())
    }

    /// The products of the columns `chosen` with `r`.
    pub(super) fn products(&self, chosen: &[usize], r: &[f64], out: &mut [f64]) {
        let total = r.iter().sum();
        let out = &mut out[..chosen.len()];
        fewest_parallel::fill(out, PANEL, |at| self.columns[chosen[at]].product(r, total));
    }

    /// Column `j` where it is kept sparse.
    pub(super) fn sparse(&self, j: usize) -> Option<(&[usize], &[f64])> {
        match &self.columns[j] {
            Stored::Sparse { rows, values, .. } => Some((rows, values)),
            Stored::Constant => Some((&[], &[])),
            Stored::Dense(_) => None,
        }
    }

    /// `‖xⱼ‖²`: the number of samples in a design that is no subset, and 0 where all values are equal.
    pub(super) fn squared_norm(&self, j: usize) -> f64 {
        let mut values = vec![0.0; self.n_samples];
        self.columns[j].write(&mut values);
        dot(&values, &values)
    }
}

impl Stored {
    fn standardised(column: Column<'_>, n: usize) -> Self {
        match column {
            Column::Dense(values) => {
                let mut values = values.to_vec();
                if standardise(&mut values) { Self::Dense(values) } else { Self::Constant }
            }
            Column::Sparse { rows, values } => Self::sparse(rows.to_vec(), values.to_vec(), n),
        }
    }

    /// An indicator a level, or the codes themselves where there are at most two levels.
    fn levels(column: Column<'_>, n: usize) -> Vec<Self> {
        let codes = column.to_vec(n);
        let levels = order::distinct(codes.clone());
        if levels.len() <= 2 {
            return vec![Self::standardised(column, n)];
        }
        let indicator = |&level: &f64| {
            let rows: Vec<usize> = (0..n).filter(|&i| codes[i] == level).collect();
            let ones = vec![1.0; rows.len()];
            Self::sparse(rows, ones, n)
        };
        levels.iter().map(indicator).collect()
    }

    /// The standardised column whose values at `rows` are `values` and 0 elsewhere.
    fn sparse(rows: Vec<usize>, mut values: Vec<f64>, n: usize) -> Self {
        let Some(standard) = Standard::of_sparse(&values, n) else { return Self::Constant };
        let (scale, centre, deviation) = standard.affine();
        values.iter_mut().for_each(|value| *value = scale * *value / deviation);
        Self::Sparse { rows, values, shift: centre / deviation }
    }

    fn write(&self, out: &mut [f64]) {
        match self {
            Self::Dense(values) => out.copy_from_slice(values),
            Self::Sparse { rows, values, shift } => {
                out.fill(-shift);
                for (&i, value) in rows.iter().zip(values) {
                    out[i] += value;
                }
            }
            Self::Constant => out.fill(0.0),
        }
    }

    /// The samples `chosen` of `n`, any number of times each.
    fn subset(&self, chosen: &[usize], n: usize) -> Self {
        match self {
            Self::Dense(values) => Self::Dense(chosen.iter().map(|&i| values[i]).collect()),
            Self::Sparse { rows, values, shift } => {
                let mut whole = vec![0.0; n];
                for (&i, &value) in rows.iter().zip(values) {
                    whole[i] = value;
                }
                let stored = chosen.iter().enumerate().filter(|&(_, &i)| whole[i] != 0.0);
                let (rows, values) = stored.map(|(at, &i)| (at, whole[i])).unzip();
                Self::Sparse { rows, values, shift: *shift }
            }
            Self::Constant => Self::Constant,
        }
    }

    /// The product with `r`, whose sum is `total`.
    fn product(&self, r: &[f64], total: f64) -> f64 {
        match self {
            Self::Dense(values) => dot(values, r),
            Self::Sparse { rows, values, shift } => {
                rows.iter().zip(values).map(|(&i, value)| value * r[i]).sum::<f64>() - shift * total
            }
            Self::Constant => 0.0,
        }
    }
}

impl LinearOperator for Design {
    fn n_rows(&self) -> usize {
        self.n_samples
    }

    fn n_columns(&self) -> usize {
        self.columns.len()
    }

    fn apply(&self, w: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut offset = 0.0;
        for (column, &w) in self.columns.iter().zip(w).filter(|(_, w)| **w != 0.0) {
            match column {
                Stored::Dense(values) => {
                    for (out, value) in out.iter_mut().zip(values) {
                        *out += w * value;
                    }
                }
                Stored::Sparse { rows, values, shift } => {
                    offset += w * shift;
                    for (&i, value) in rows.iter().zip(values) {
                        out[i] += w * value;
                    }
                }
                Stored::Constant => {}
            }
        }
        if offset != 0.0 {
            out.iter_mut().for_each(|out| *out -= offset);
        }
    }

    fn apply_transpose(&self, r: &[f64], out: &mut [f64]) {
        let total = r.iter().sum();
        fewest_parallel::fill(out, PANEL, |j| self.columns[j].product(r, total));
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        self.columns[j].write(out);
    }
}
