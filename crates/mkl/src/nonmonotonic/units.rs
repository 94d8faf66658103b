//! Features, or groups of them, as factors of their kernels.

use fewest_columns::{Standard, chance_of_one_level, map_features, range, standardise};
use fewest_core::{Column, Context, Dataset, Error, FeatureKind, order};
use fewest_kernels::{Factor, Gaussian, kernel_width};

use super::system::Factors;
use super::{FeatureKernel, FeatureScaling};
use crate::limits::over;
use fewest_linalg::transposed_products;

/// Most columns of a Gaussian kernel's factor: its numerical rank on one feature is about 15.
const MOST_COLUMNS: usize = 200;

/// How the columns of a feature come about.
enum Form {
    Constant,
    /// `(scale · value − centre) / spread`.
    Linear {
        scale: f64,
        centre: f64,
        spread: f64,
    },
    /// An indicator for each of these codes, times `scale`.
    Levels {
        codes: Vec<f64>,
        scale: f64,
    },
    /// The factor of a kernel, column after column.
    Factor(Vec<f64>),
}

/// What has a weight of its own: a feature, or a group.
pub(super) struct Unit {
    pub features: Vec<usize>,
    pub feature_cost: f64,
}

/// All units with a feature that varies.
pub(super) struct Units<'a> {
    data: &'a Dataset,
    forms: Vec<Form>,
    pub units: Vec<Unit>,
    pub n_constant: usize,
}

impl<'a> Units<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        kernel: FeatureKernel,
        grouped: bool,
        feature_costs: Option<&[f64]>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let forms = map_features(data, context, "features", |j, column| {
            if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
                return Ok(levels(&column.to_vec(data.n_samples())));
            }
            match kernel {
                FeatureKernel::Linear { scaling } => Ok(linear(column, data.n_samples(), scaling)),
                FeatureKernel::Gaussian { sigma, factor_tolerance } => {
                    let mut points = column.to_vec(data.n_samples());
                    if !standardise(&mut points) {
                        return Ok(Form::Constant);
                    }
                    let kernel = Gaussian::new(kernel_width(sigma, &points)?)?;
                    let mut factor =
                        Factor::new_unless(&kernel, &points, factor_tolerance, MOST_COLUMNS, &over(context))?;
                    factor.centre();
                    Ok(Form::Factor(factor.values().to_vec()))
                }
            }
        })?;
        let feature_cost = |j: usize| feature_costs.map_or(1.0, |feature_costs| feature_costs[j]);
        let mut units: Vec<Unit> = Vec::new();
        let mut places: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
        let groups = if grouped { data.feature_partition("nmmkl with weights=group")? } else { None };
        for (j, form) in forms.iter().enumerate() {
            if matches!(form, Form::Constant) {
                continue;
            }
            let group = groups.map(|groups| groups[j]);
            match group.and_then(|group| places.get(&group)) {
                Some(&at) => {
                    units[at].features.push(j);
                    units[at].feature_cost += feature_cost(j);
                }
                None => {
                    if let Some(group) = group {
                        places.insert(group, units.len());
                    }
                    units.push(Unit { features: vec![j], feature_cost: feature_cost(j) });
                }
            }
        }
        let n_constant = forms.iter().filter(|form| matches!(form, Form::Constant)).count();
        Ok(Self { data, forms, units, n_constant })
    }

    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    pub(super) fn feature_costs(&self) -> Vec<f64> {
        self.units.iter().map(|unit| unit.feature_cost).collect()
    }

    /// Appends the columns of feature `j`.
    fn fill(&self, j: usize, out: &mut Vec<f64>) -> Result<(), Error> {
        let n = self.data.n_samples();
        let start = out.len();
        match &self.forms[j] {
            Form::Constant => {}
            Form::Linear { scale, centre, spread } => {
                out.resize(start + n, 0.0);
                self.data.x().copy_column(j, &mut out[start..])?;
                out[start..].iter_mut().for_each(|value| *value = (scale * *value - centre) / spread);
            }
            Form::Levels { codes, scale } => {
                let mut values = vec![0.0; n];
                self.data.x().copy_column(j, &mut values)?;
                for code in codes {
                    out.extend(values.iter().map(|value| if value == code { *scale } else { 0.0 }));
                }
            }
            Form::Factor(values) => out.extend_from_slice(values),
        }
        Ok(())
    }

    /// The columns of the units `chosen`, in this order.
    pub(super) fn factors(&self, chosen: &[usize]) -> Result<Factors, Error> {
        let n = self.data.n_samples();
        let parts = fewest_parallel::try_map(chosen.len(), |at| {
            let mut columns = Vec::new();
            for &j in &self.units[chosen[at]].features {
                self.fill(j, &mut columns)?;
            }
            Ok::<Vec<f64>, Error>(columns)
        })?;
        let mut offsets = vec![0];
        for part in &parts {
            offsets.push(offsets[offsets.len() - 1] + part.len() / n);
        }
        Ok(Factors { columns: parts.concat(), offsets, n })
    }

    /// `‖Fᵤᵀβ‖²` of every unit, for machines whose `β` come one after the other and have sums of 0.
    pub(super) fn squares(&self, beta: &[f64]) -> Result<Vec<f64>, Error> {
        let squares = fewest_parallel::map_with(
            self.units.len(),
            |(columns, scratch): &mut (Vec<f64>, Vec<f64>), u| {
                self.units[u].features.iter().map(|&j| self.square(j, beta, columns, scratch)).sum()
            },
        );
        squares.into_iter().collect()
    }

    fn square(
        &self,
        j: usize,
        beta: &[f64],
        columns: &mut Vec<f64>,
        scratch: &mut Vec<f64>,
    ) -> Result<f64, Error> {
        let n = self.data.n_samples();
        if let Form::Linear { scale, centre, spread } = self.forms[j]
            && let Column::Sparse { rows, values } = self.data.x().column(j, scratch)?
        {
            return Ok(beta
                .chunks_exact(n)
                .map(|beta| {
                    let stored: f64 = rows.iter().zip(values).map(|(&i, v)| scale * v * beta[i]).sum();
                    let product = (stored - centre * beta.iter().sum::<f64>()) / spread;
                    product * product
                })
                .sum());
        }
        if let Form::Factor(values) = &self.forms[j] {
            return Ok(transposed_products(values, beta, n).iter().map(|z| z * z).sum());
        }
        columns.clear();
        self.fill(j, columns)?;
        Ok(transposed_products(columns, beta, n).iter().map(|z| z * z).sum())
    }
}

/// An indicator for each level, scaled so that the centred kernel has the trace of a standardised feature,
/// `n`: two levels are then the same as the standardised 0/1 feature.
fn levels(values: &[f64]) -> Form {
    let codes = order::distinct(values.to_vec());
    if codes.len() < 2 {
        return Form::Constant;
    }
    Form::Levels { codes, scale: (1.0 - chance_of_one_level(values)).sqrt().recip() }
}

fn linear(column: Column<'_>, n: usize, scaling: FeatureScaling) -> Form {
    let values = match column {
        Column::Dense(values) | Column::Sparse { values, .. } => values,
    };
    let Some(standard) = Standard::of_sparse(values, n) else { return Form::Constant };
    match scaling {
        FeatureScaling::None => Form::Linear { scale: 1.0, centre: 0.0, spread: 1.0 },
        FeatureScaling::Range => {
            let (mut low, mut high) = range(values);
            if values.len() < n {
                (low, high) = (low.min(0.0), high.max(0.0));
            }
            Form::Linear { scale: 1.0, centre: 0.5 * low + 0.5 * high, spread: 0.5 * high - 0.5 * low }
        }
        FeatureScaling::Standard => {
            let (scale, centre, spread) = standard.affine();
            Form::Linear { scale, centre, spread }
        }
    }
}
