//! Standardised features and outputs as atoms of a linear model.

use std::collections::BTreeMap;

use fewest_core::{Column, Context, Dataset, Error, FeatureKind, order, room};
use fewest_linalg::{add_scaled, dot, dot_products, lanes};
use fewest_solver::{Atoms, InnerProducts, Quadratic};

use fewest_columns::{
    Standard, StandardOutput, Weights, check_column, finite_values, range, weighted_outputs,
};

/// Columns multiplied at a time.
const PANEL: usize = 64;

/// Samples that products of sparse columns pass over at a time: what these have is read again and again.
const SAMPLES: usize = 512;

/// Where fewer than one value in so many is stored, products of columns take those alone.
const SPARSE: usize = 4;

/// So many values are added without a call.
const SHORT: usize = 16;

/// Products with at most so many columns are computed one by one.
const FEW: usize = 8;

/// Columns examined between two checks of the clock.
const ROUND: usize = 512;

/// Bytes that copies of standardised columns may take; beyond, they are built again when needed.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// Standard deviations that the mean of a column may be away from zero if it is standardised in every
/// product: each of them costs the product as many units of rounding.
const FARTHEST: f64 = 64.0;

/// The largest and, inverted, the smallest standard deviation of such a column, so that nothing overflows.
const LARGEST: f64 = 1e100;

/// One column of the linear model: a feature, or one level of a categorical feature with more than two.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) feature: usize,
    pub(super) level: Option<f64>,
}

/// Where the values of a column are.
#[derive(Clone, Copy)]
enum Place {
    /// In the table, which has them in memory: standardised they are `scale · value − shift`.
    Table { scale: f64, shift: f64 },
    /// In a copy that starts here, of a column that the table does not have in memory, or of a standardised
    /// one. Of the former the same numbers are computed as of [`Table`](Self::Table), to the last bit.
    Copy { start: usize, scale: f64, shift: f64 },
    /// In the table, which reads the column each time.
    Read { scale: f64, shift: f64 },
    /// Nowhere: the column is built each time.
    Nowhere,
}

/// The stored values of a column: standardised they are `scale · value − shift`.
pub(super) struct Stored<'a> {
    values: Column<'a>,
    scale: f64,
    shift: f64,
}

/// Columns of mean 0 and standard deviation 1, with products divided by the number of samples. Where samples
/// have weights, which are brought to a sum of that number, they are part of mean, deviation and product.
///
/// Columns that the table has in memory, dense or sparse, are not copied.
pub(super) struct LinearColumns<'a> {
    data: &'a Dataset,
    sources: Vec<Source>,
    places: Vec<Place>,
    copies: Vec<f64>,
    weights: Option<Weights>,
    /// With the first output as target.
    atoms: Atoms,
    /// Bytes that `copies` may take.
    bytes: usize,
    /// The outputs that vary.
    targets: Vec<StandardOutput>,
    /// `xⱼᵀ yₒ / n` of every column, output by output.
    pub(super) outputs: Vec<Vec<f64>>,
    /// All products of columns, where they are known instead of values.
    gram: Option<Quadratic>,
}

/// Vectors to be multiplied by columns, one after the other, with their sums.
struct Right {
    vectors: Vec<f64>,
    sums: Vec<f64>,
}

/// What is to be known of a column.
struct Examined {
    varies: bool,
    values: Kept,
    /// Its product with each output.
    products: Vec<f64>,
}

/// What is kept of the values of a column.
enum Kept {
    /// Nothing: the table has them in memory.
    Table { scale: f64, shift: f64 },
    /// The values of the table.
    Read { values: Vec<f64>, scale: f64, shift: f64 },
    /// Standardised values.
    Built(Vec<f64>),
}

impl<'a> LinearColumns<'a> {
    /// For a method that does not use sample weights.
    pub(super) fn new(data: &'a Dataset, method: &'static str, context: &Context<'_>) -> Result<Self, Error> {
        Self::with_outputs(data, method, weighted_outputs(data.target(), None, method, context)?, context)
    }

    /// With these outputs in place of the target; there may be none.
    pub(super) fn with_outputs(
        data: &'a Dataset,
        method: &'static str,
        targets: Vec<StandardOutput>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        data.refuse_sample_weights(method)?;
        Self::with_targets(data, None, targets, MOST_BYTES, context)
    }

    /// With the weights of the samples; copies of standardised columns take at most so many `bytes`.
    pub(super) fn weighted(
        data: &'a Dataset,
        method: &'static str,
        bytes: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let weights = Weights::of(data)?;
        let targets = weighted_outputs(data.target(), weights.as_ref(), method, context)?;
        Self::with_targets(data, weights, targets, bytes, context)
    }

    /// [`weighted`](Self::weighted) without products with the target, which need not be outputs.
    pub(super) fn without_outputs(
        data: &'a Dataset,
        bytes: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        Self::with_targets(data, Weights::of(data)?, Vec::new(), bytes, context)
    }

    fn with_targets(
        data: &'a Dataset,
        weights: Option<Weights>,
        targets: Vec<StandardOutput>,
        bytes: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let go_on = || context.go_on("every feature had been seen once");
        let size = [targets.len(), data.n_samples()];
        let vectors =
            room("memory for the outputs", &size, "a linear model", "use fewer samples or classes")?;
        let mut right = Right { vectors, sums: Vec::new() };
        for target in &targets {
            // With thousands of classes this is work.
            go_on()?;
            let mut vector = target.values.clone();
            weigh(&mut vector, weights.as_ref());
            right.sums.push(lanes::sum(&vector));
            right.vectors.extend(vector);
        }
        let mut sources = Vec::new();
        for j in 0..data.n_features() {
            sources.extend(Source::of(data, j)?);
        }
        let mut examined = Self {
            data,
            sources,
            places: Vec::new(),
            copies: Vec::new(),
            bytes,
            weights,
            atoms: Atoms { target_squared_norm: 1.0, ..Atoms::default() },
            outputs: vec![Vec::new(); targets.len()],
            targets,
            gram: None,
        };
        let total = examined.sources.len();
        for first in (0..total).step_by(ROUND) {
            go_on()?;
            let last = total.min(first + ROUND);
            let columns = fewest_parallel::map_with(last - first, |scratch, at| {
                examined.examine(first + at, &right, scratch)
            });
            for column in columns {
                // With many outputs or samples one feature is work enough.
                go_on()?;
                examined.add(column?);
            }
            context.report("correlation with the target", last, total);
        }
        let first = examined.outputs.first().cloned();
        examined.atoms.target_products = first.unwrap_or_else(|| vec![0.0; total]);
        Ok(examined)
    }

    /// Columns of which the products are known, with each other and with each output, and no values. `data`
    /// has some of the rows, for what is to be known of features.
    pub(super) fn of_products(
        data: &'a Dataset,
        sources: Vec<Source>,
        gram: Vec<f64>,
        outputs: Vec<Vec<f64>>,
    ) -> Result<Self, Error> {
        let first = outputs.first().cloned().unwrap_or_else(|| vec![0.0; sources.len()]);
        let gram = Quadratic::new(gram, first, 1.0)?;
        let atoms = gram.atoms().clone();
        Ok(Self {
            data,
            sources,
            places: Vec::new(),
            copies: Vec::new(),
            bytes: 0,
            weights: None,
            atoms,
            targets: Vec::new(),
            outputs,
            gram: Some(gram),
        })
    }

    /// Those of some features, where products are known.
    pub(super) fn restricted(&self, features: &[usize]) -> Result<Option<Self>, Error> {
        let Some(gram) = &self.gram else { return Ok(None) };
        let columns: Vec<usize> = self.sets(&[features.to_vec()]).concat();
        let mut products = vec![0.0; columns.len() * columns.len()];
        gram.products(&columns, &columns, &mut products)?;
        let sources = columns.iter().map(|&column| self.sources[column]).collect();
        let of = |output: &Vec<f64>| columns.iter().map(|&column| output[column]).collect();
        Self::of_products(self.data, sources, products, self.outputs.iter().map(of).collect()).map(Some)
    }

    /// Whether products of columns are known, and no values.
    pub(super) fn are_products(&self) -> bool {
        self.gram.is_some()
    }

    /// The numbers that the columns of `other` have here; `None` where one is missing.
    pub(super) fn places_of(&self, other: &Self) -> Option<Vec<usize>> {
        let mut next = 0;
        let place = |wanted: &Source| {
            let is_same = |own: &Source| (own.feature, own.level) == (wanted.feature, wanted.level);
            next += self.sources.get(next..)?.iter().position(is_same)? + 1;
            Some(next - 1)
        };
        other.sources.iter().map(place).collect()
    }

    fn examine(&self, column: usize, targets: &Right, scratch: &mut Vec<f64>) -> Result<Examined, Error> {
        let n = self.data.n_samples();
        if let Source { feature, level: None } = self.sources[column] {
            scratch.clear();
            let values = self.data.x().column(feature, scratch)?;
            let standard = match (&self.weights, values) {
                (Some(weights), values) => {
                    // Also those of samples that do not count.
                    check_column(self.data, feature, values)?;
                    Standard::weighted(values, weights)
                }
                (None, Column::Dense(values)) => Standard::of(values, range(values)),
                (None, Column::Sparse { values, .. }) => Standard::of_sparse(values, n),
            };
            let Some(standard) = standard else {
                // Constant, or not finite: else there is a standard deviation.
                check_column(self.data, feature, values)?;
                return Ok(Examined {
                    varies: false,
                    values: Kept::Table { scale: 0.0, shift: 0.0 },
                    products: vec![0.0; targets.sums.len()],
                });
            };
            let (scale, centre, deviation) = standard.affine();
            let (scale, shift) = (scale / deviation, centre / deviation);
            let stored = Stored { values, scale, shift };
            let mut products = vec![0.0; targets.sums.len()];
            stored.products(&targets.vectors, &targets.sums, &mut products);
            products.iter_mut().for_each(|product| *product /= n as f64);
            let first = if let Column::Dense(values) = values { Some(values.as_ptr()) } else { None };
            // A table that has the column in memory needs no buffer.
            let is_near = shift.abs() <= FARTHEST && (LARGEST.recip()..=LARGEST).contains(&scale);
            // Also those of samples that do not count, of which the scale knows nothing.
            let is_near = is_near
                && (self.weights.is_none() || {
                    let (low, high) = range(match values {
                        Column::Dense(values) | Column::Sparse { values, .. } => values,
                    });
                    low.abs().max(high.abs()) <= LARGEST / scale
                });
            if is_near && scratch.is_empty() {
                return Ok(Examined { varies: true, values: Kept::Table { scale, shift }, products });
            }
            if scratch.len() == n && first.is_some_and(|first| std::ptr::eq(first, scratch.as_ptr())) {
                let mut values = scratch.clone();
                if is_near {
                    let values = Kept::Read { values, scale, shift };
                    return Ok(Examined { varies: true, values, products });
                }
                standard.apply(&mut values);
                return Ok(Examined::copied(values, true, targets));
            }
        }
        let (values, varies) = self.build(column)?;
        Ok(Examined::copied(values, varies, targets))
    }

    fn add(&mut self, column: Examined) {
        for (output, product) in self.outputs.iter_mut().zip(column.products) {
            output.push(product);
        }
        self.atoms.squared_norms.push(if column.varies { 1.0 } else { 0.0 });
        let place = match column.values {
            Kept::Table { scale, shift } => Place::Table { scale, shift },
            Kept::Read { values, scale, shift } => match self.copy(&values) {
                Some(start) => Place::Copy { start, scale, shift },
                None => Place::Read { scale, shift },
            },
            Kept::Built(values) => match self.copy(&values) {
                Some(start) => Place::Copy { start, scale: 1.0, shift: 0.0 },
                None => Place::Nowhere,
            },
        };
        self.places.push(place);
    }

    /// Keeps the values of the next column, if there is room; where they start.
    fn copy(&mut self, values: &[f64]) -> Option<usize> {
        let most = self.bytes / size_of::<f64>();
        if self.copies.is_empty() {
            let left = self.sources.len() - self.places.len();
            self.copies.reserve_exact(left.saturating_mul(values.len()).min(most));
        }
        let start = self.copies.len();
        if start + values.len() > most {
            return None;
        }
        self.copies.extend_from_slice(values);
        Some(start)
    }

    /// Column `column` standardised, or zeros with `false` where it is constant.
    fn build(&self, column: usize) -> Result<(Vec<f64>, bool), Error> {
        let Source { feature, level } = self.sources[column];
        let mut values = finite_values(self.data, feature)?;
        if let Some(level) = level {
            values.iter_mut().for_each(|value| *value = f64::from(*value == level));
        }
        let standard = match &self.weights {
            Some(weights) => Standard::weighted(Column::Dense(&values), weights),
            None => Standard::of(&values, range(&values)),
        };
        match standard {
            Some(standard) => standard.apply(&mut values),
            None => values.fill(0.0),
        }
        Ok((values, standard.is_some()))
    }

    /// Multiplies what belongs to each sample by its weight.
    pub(super) fn weigh(&self, values: &mut [f64]) {
        weigh(values, self.weights.as_ref());
    }

    /// The weights of the samples, where they differ.
    pub(super) fn weights(&self) -> Option<&Weights> {
        self.weights.as_ref()
    }

    /// Number of samples with a weight above 0.
    pub(super) fn n_counting(&self) -> usize {
        self.weights.as_ref().map_or(self.n_samples(), Weights::n_counting)
    }

    /// Whether no column has to be built again for a product.
    pub(super) fn are_in_memory(&self) -> bool {
        self.gram.is_none()
            && !self.places.iter().any(|place| matches!(place, Place::Read { .. } | Place::Nowhere))
    }

    /// The outputs that vary.
    pub(super) fn targets(&self) -> &[StandardOutput] {
        &self.targets
    }

    /// `X w` for every output, one after the other, from the coefficients that are not zero.
    pub(super) fn fitted(&self, outputs: &[Vec<(usize, f64)>]) -> Result<Vec<f64>, Error> {
        let n = self.n_samples();
        let mut fitted = vec![0.0; outputs.len() * n];
        let mut scratch = Vec::new();
        for (coefficients, fitted) in outputs.iter().zip(fitted.chunks_exact_mut(n.max(1))) {
            let mut shift = 0.0;
            for &(column, weight) in coefficients {
                shift += self.stored(column, &mut scratch)?.add_to(weight, fitted);
            }
            fitted.iter_mut().for_each(|value| *value -= shift);
        }
        Ok(fitted)
    }

    /// The feature a column belongs to.
    pub(super) fn feature(&self, column: usize) -> usize {
        self.sources[column].feature
    }

    /// The feature of each column.
    pub(super) fn features(&self) -> impl Iterator<Item = usize> {
        self.sources.iter().map(|source| source.feature)
    }

    /// The columns of sets of features.
    pub(super) fn sets(&self, sets: &[Vec<usize>]) -> Vec<Vec<usize>> {
        // Where products are known, the data may have some of the features only.
        let n_features = self.features().fold(self.data.n_features(), |n, feature| n.max(feature + 1));
        let mut columns_of = vec![Vec::new(); n_features];
        self.features().enumerate().for_each(|(column, j)| columns_of[j].push(column));
        sets.iter().map(|set| set.iter().flat_map(|&j| columns_of[j].iter().copied()).collect()).collect()
    }

    /// Whether a column is one of several that a categorical feature has.
    pub(super) fn is_level(&self, column: usize) -> bool {
        self.sources[column].level.is_some()
    }

    /// The score of each feature with a coefficient: of the single one if `is_signed`, that coefficient, else
    /// the norm of all of its columns and outputs. `coefficients` are those of columns, each perhaps of
    /// several outputs; zeros do not count.
    pub(super) fn scores(
        &self,
        is_signed: bool,
        coefficients: impl Iterator<Item = (usize, f64)>,
    ) -> BTreeMap<usize, f64> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for (column, value) in coefficients.filter(|(_, value)| *value != 0.0) {
            let score = scores.entry(self.feature(column)).or_insert(0.0);
            let is_single = is_signed && !self.is_level(column);
            *score = if is_single { value } else { score.hypot(value) };
        }
        scores
    }

    /// [`scores`](Self::scores) where each output of the target has coefficients, with a sign where there is
    /// one output.
    pub(super) fn feature_scores(&self, outputs: &[Vec<(usize, f64)>]) -> BTreeMap<usize, f64> {
        self.scores(outputs.len() == 1, outputs.iter().flatten().copied())
    }

    /// The values of a column, where they are.
    pub(super) fn stored<'s>(
        &'s self,
        column: usize,
        scratch: &'s mut Vec<f64>,
    ) -> Result<Stored<'s>, Error> {
        let Some(place) = self.places.get(column) else {
            return Err(Error::Unsupported {
                method: "a linear model of products",
                what: "the values of its columns".to_owned(),
                instead: "read the rows into one table".to_owned(),
            });
        };
        Ok(match *place {
            Place::Table { scale, shift } | Place::Read { scale, shift } => {
                let values = self.data.x().column(self.sources[column].feature, scratch)?;
                Stored { values, scale, shift }
            }
            Place::Copy { start, scale, shift } => {
                let values = Column::Dense(&self.copies[start..start + self.data.n_samples()]);
                Stored { values, scale, shift }
            }
            Place::Nowhere => {
                *scratch = self.build(column)?.0;
                Stored { values: Column::Dense(scratch), scale: 1.0, shift: 0.0 }
            }
        })
    }

    /// Number of samples.
    pub(super) fn n_samples(&self) -> usize {
        self.data.n_samples()
    }

    /// `xⱼᵀ v` of `columns` with every `v` in `right`, those of a column after each other: not divided by the
    /// number of samples, and without weights. `sums` are those of the entries of each `v`.
    pub(super) fn correlate(
        &self,
        columns: impl ExactSizeIterator<Item = usize>,
        right: &[f64],
        sums: &[f64],
    ) -> Result<Vec<f64>, Error> {
        let mut scratch = Vec::new();
        let mut products = vec![0.0; columns.len() * sums.len()];
        for (column, out) in columns.zip(products.chunks_exact_mut(sums.len().max(1))) {
            self.stored(column, &mut scratch)?.products(right, sums, out);
        }
        Ok(products)
    }

    /// `xⱼᵀ v` of `columns` with many `v`, one after the other in `right`: the products of a column after
    /// each other, not divided by the number of samples, and without weights.
    pub(super) fn products_with(&self, columns: &[usize], right: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.n_samples();
        let k = right.len() / n.max(1);
        let sums: Vec<f64> = right.chunks_exact(n.max(1)).map(lanes::sum).collect();
        // By samples, so that a stored value is multiplied by neighbours in memory.
        let mut by_samples = vec![0.0; right.len()];
        fewest_parallel::chunks(&mut by_samples, SAMPLES * k.max(1), |part, out| {
            for (at, v) in right.chunks_exact(n.max(1)).enumerate() {
                let rows = out.chunks_exact_mut(k).zip(&v[part * SAMPLES..]);
                rows.for_each(|(row, value)| row[at] = *value);
            }
        });
        let panels = fewest_parallel::try_map(columns.len().div_ceil(PANEL), |at| {
            let panel = &columns[at * PANEL..columns.len().min((at + 1) * PANEL)];
            let mut products = vec![0.0; panel.len() * k];
            let (mut sparse, mut dense) = (Vec::new(), Vec::new());
            let mut scratches = vec![Vec::new(); panel.len()];
            for (place, (&column, scratch)) in panel.iter().zip(&mut scratches).enumerate() {
                // Others are dense, and not kept here.
                if !matches!(self.places.get(column), Some(Place::Table { .. })) {
                    dense.push(place);
                    continue;
                }
                match self.stored(column, scratch)? {
                    stored @ Stored { values: Column::Sparse { .. }, .. } => sparse.push((place, stored)),
                    _ => dense.push(place),
                }
            }
            for first in (0..n).step_by(SAMPLES) {
                for (place, stored) in &sparse {
                    let Column::Sparse { rows, values } =
                        stored.values.stretch(first..n.min(first + SAMPLES))
                    else {
                        continue;
                    };
                    let out = &mut products[place * k..][..k];
                    for (&row, &value) in rows.iter().zip(values) {
                        add_row(out, stored.scale * value, &by_samples[row * k..][..k]);
                    }
                }
            }
            for (place, stored) in sparse {
                let out = products[place * k..][..k].iter_mut();
                out.zip(&sums).for_each(|(out, sum)| *out -= stored.shift * sum);
            }
            if !dense.is_empty() {
                let chosen: Vec<usize> = dense.iter().map(|&place| panel[place]).collect();
                let mut of_dense = vec![0.0; chosen.len() * k];
                dot_products(right, &self.gather(&chosen)?, n, &mut of_dense);
                for (place, values) in dense.into_iter().zip(of_dense.chunks_exact(k.max(1))) {
                    products[place * k..][..k].copy_from_slice(values);
                }
            }
            Ok::<Vec<f64>, Error>(products)
        })?;
        Ok(panels.concat())
    }

    /// The sums of `columns` with `weights`, those of a column side by side: one sum after the other.
    pub(super) fn combined(&self, columns: &[usize], weights: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.n_samples();
        let k = weights.len() / columns.len().max(1);
        let mut by_samples = vec![0.0; n * k];
        let mut shifts = vec![0.0; k];
        let mut scratches = vec![Vec::new(); PANEL.min(columns.len())];
        for (panel, weights) in columns.chunks(PANEL).zip(weights.chunks((PANEL * k).max(1))) {
            let mut scaled = Vec::with_capacity(weights.len());
            let mut table = Vec::with_capacity(panel.len());
            let each = panel.iter().zip(&mut scratches).zip(weights.chunks_exact(k.max(1)));
            for ((&column, scratch), weights) in each {
                let stored = self.stored(column, scratch)?;
                scaled.extend(weights.iter().map(|weight| weight * stored.scale));
                shifts.iter_mut().zip(weights).for_each(|(shift, weight)| *shift += weight * stored.shift);
                table.push(stored.values);
            }
            fewest_parallel::chunks(&mut by_samples, SAMPLES * k.max(1), |part, out| {
                let first = part * SAMPLES;
                let samples = first..n.min(first + SAMPLES);
                for (column, weights) in table.iter().zip(scaled.chunks_exact(k.max(1))) {
                    match column.stretch(samples.clone()) {
                        Column::Dense(values) => {
                            let rows = out.chunks_exact_mut(k.max(1)).zip(values);
                            rows.for_each(|(row, &value)| add_row(row, value, weights));
                        }
                        Column::Sparse { rows, values } => {
                            for (&row, &value) in rows.iter().zip(values) {
                                add_row(&mut out[(row - first) * k..][..k], value, weights);
                            }
                        }
                    }
                }
            });
        }
        let mut combined = vec![0.0; n * k];
        for (at, (out, shift)) in combined.chunks_exact_mut(n.max(1)).zip(&shifts).enumerate() {
            let values = by_samples.chunks_exact(k).map(|row| row[at] - shift);
            out.iter_mut().zip(values).for_each(|(out, value)| *out = value);
        }
        Ok(combined)
    }

    /// Whether products of `columns` take fewer multiplications by their stored values, one by one, than by
    /// all values in panels.
    pub(super) fn are_sparse(&self, columns: &[usize]) -> Result<bool, Error> {
        // Where the products are known, there are no columns.
        Ok(self.gram.is_none() && self.n_stored(columns)? < self.n_samples() * columns.len() / SPARSE)
    }

    /// The number of stored values of `columns`: all, where they are dense.
    pub(super) fn n_stored(&self, columns: &[usize]) -> Result<usize, Error> {
        let mut scratch = Vec::new();
        columns.iter().try_fold(0, |sum, &column| {
            // What is kept or built is dense.
            let stored = match self.places[column] {
                Place::Table { .. } => match self.stored(column, &mut scratch)?.values {
                    Column::Sparse { rows, .. } => rows.len(),
                    Column::Dense(values) => values.len(),
                },
                Place::Copy { .. } | Place::Read { .. } | Place::Nowhere => self.n_samples(),
            };
            Ok(sum + stored)
        })
    }

    /// The standardised columns `columns`, one after the other.
    pub(super) fn gather(&self, columns: &[usize]) -> Result<Vec<f64>, Error> {
        let n = self.data.n_samples();
        let mut gathered = vec![0.0; columns.len() * n];
        let mut scratch = Vec::new();
        for (&column, out) in columns.iter().zip(gathered.chunks_exact_mut(n.max(1))) {
            self.stored(column, &mut scratch)?.standardise(out);
        }
        Ok(gathered)
    }
}

impl Examined {
    /// A column that the table does not have in memory, or not as it is needed.
    fn copied(values: Vec<f64>, varies: bool, targets: &Right) -> Self {
        let mut products = vec![0.0; targets.sums.len()];
        lanes::dots(&values, &targets.vectors, &mut products);
        products.iter_mut().for_each(|product| *product /= values.len() as f64);
        Self { varies, values: Kept::Built(values), products }
    }
}

impl Stored<'_> {
    /// The product with `v`, whose sum is `sum`.
    pub(super) fn product(&self, v: &[f64], sum: f64) -> f64 {
        let product = match self.values {
            Column::Dense(values) => dot(values, v),
            Column::Sparse { rows, values } => {
                rows.iter().zip(values).map(|(&row, value)| value * v[row]).sum()
            }
        };
        self.scale * product - self.shift * sum
    }

    /// The products with several vectors, which `right` has one after the other; `sums` are theirs.
    fn products(&self, right: &[f64], sums: &[f64], out: &mut [f64]) {
        match self.values {
            Column::Dense(values) => {
                lanes::dots(values, right, out);
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = self.scale * *out - self.shift * sum;
                }
            }
            Column::Sparse { .. } => {
                let n = right.len() / sums.len().max(1);
                for ((out, v), sum) in out.iter_mut().zip(right.chunks_exact(n.max(1))).zip(sums) {
                    *out = self.product(v, *sum);
                }
            }
        }
    }

    /// Adds the column times `weight` to `out`, all but the shift, which it returns.
    pub(super) fn add_to(&self, weight: f64, out: &mut [f64]) -> f64 {
        let scale = weight * self.scale;
        match self.values {
            Column::Dense(values) => add_scaled(out, scale, values),
            Column::Sparse { rows, values } => {
                for (&row, value) in rows.iter().zip(values) {
                    out[row] += scale * value;
                }
            }
        }
        weight * self.shift
    }

    fn standardise(&self, out: &mut [f64]) {
        self.values.copy_to(out);
        out.iter_mut().for_each(|value| *value = self.scale * *value - self.shift);
    }
}

/// `out += scale x`, where there often are so few values that a call would take longer than they do.
#[inline(always)]
fn add_row(out: &mut [f64], scale: f64, x: &[f64]) {
    if x.len() > SHORT {
        return add_scaled(out, scale, x);
    }
    let (outs, out_rest) = out.as_chunks_mut::<4>();
    let (xs, x_rest) = x.as_chunks::<4>();
    for (out, x) in outs.iter_mut().zip(xs) {
        for k in 0..4 {
            out[k] += scale * x[k];
        }
    }
    for (out, x) in out_rest.iter_mut().zip(x_rest) {
        *out += scale * x;
    }
}

/// Multiplies what belongs to each sample by its weight.
fn weigh(values: &mut [f64], weights: Option<&Weights>) {
    if let Some(weights) = weights {
        values.iter_mut().zip(weights.values()).for_each(|(value, weight)| *value *= weight);
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
        if let Some(gram) = &self.gram {
            return gram.products(rows, columns, out);
        }
        let n = self.data.n_samples();
        if self.are_sparse(rows)? {
            for (at, columns) in columns.chunks(PANEL).enumerate() {
                let mut right = self.gather(columns)?;
                right.chunks_exact_mut(n.max(1)).for_each(|column| weigh(column, self.weights.as_ref()));
                let products = self.products_with(rows, &right)?;
                for (row, products) in products.chunks_exact(columns.len()).enumerate() {
                    for (position, product) in products.iter().enumerate() {
                        out[(at * PANEL + position) * rows.len() + row] = product / n as f64;
                    }
                }
            }
            return Ok(());
        }
        let mut right = self.gather(columns)?;
        right.chunks_exact_mut(n.max(1)).for_each(|column| weigh(column, self.weights.as_ref()));
        let k = columns.len();
        if k <= FEW {
            // A copy of the rows would take longer than the products with them.
            let sums: Vec<f64> = right.chunks_exact(n.max(1)).map(lanes::sum).collect();
            let panels = fewest_parallel::try_map(rows.len().div_ceil(PANEL), |at| {
                let panel = rows[at * PANEL..rows.len().min((at + 1) * PANEL)].iter().copied();
                self.correlate(panel, &right, &sums)
            })?;
            for (row, products) in panels.iter().flat_map(|panel| panel.chunks_exact(k)).enumerate() {
                for (position, product) in products.iter().enumerate() {
                    out[position * rows.len() + row] = product / n as f64;
                }
            }
            return Ok(());
        }
        let panels = fewest_parallel::try_map(rows.len().div_ceil(PANEL), |at| {
            let panel = &rows[at * PANEL..rows.len().min((at + 1) * PANEL)];
            let mut products = vec![0.0; panel.len() * k];
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

    /// By the combination itself: `n (rows + support)` multiplications.
    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        if rows.is_empty() || support.is_empty() {
            return Ok(());
        }
        if let Some(gram) = &self.gram {
            return gram.subtract_fitted(rows, support, weights, out);
        }
        let n = self.data.n_samples();
        let mut fitted = vec![0.0; n];
        let (mut shift, mut scratch) = (0.0, Vec::new());
        for (&column, &weight) in support.iter().zip(weights) {
            shift += self.stored(column, &mut scratch)?.add_to(weight, &mut fitted);
        }
        fitted.iter_mut().for_each(|value| *value = (*value - shift) / n as f64);
        weigh(&mut fitted, self.weights.as_ref());
        let sum = lanes::sum(&fitted);
        let panels = fewest_parallel::chunks(out, PANEL, |at, out| {
            let mut scratch = Vec::new();
            for (value, &row) in out.iter_mut().zip(&rows[at * PANEL..]) {
                *value -= self.stored(row, &mut scratch)?.product(&fitted, sum);
            }
            Ok(())
        });
        panels.into_iter().collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fewest_core::{Columns, DenseColumns, OnDemand, Target};

    use super::*;

    /// A sparse table: of each column the rows and their values, and the number of samples.
    pub(crate) struct Sparse(pub(crate) Vec<(Vec<usize>, Vec<f64>)>, pub(crate) usize);

    impl Columns for Sparse {
        fn n_samples(&self) -> usize {
            self.1
        }

        fn n_features(&self) -> usize {
            self.0.len()
        }

        fn column<'a>(&'a self, j: usize, _: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
            let (rows, values) = &self.0[j];
            Ok(Column::Sparse { rows, values })
        }
    }

    /// Products with few columns, which are taken without a copy of the rows, are those with many.
    #[test]
    fn products_with_few_columns_are_those_with_many() -> Result<(), Error> {
        let (n, d) = (60, PANEL + 9);
        let value = |i: usize, j: usize| ((i * (j + 3) + j * j) % 13) as f64;
        let table: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
        let columns = LinearColumns::with_outputs(&data, "lasso", Vec::new(), &Context::default())?;
        let rows: Vec<usize> = (0..d).rev().step_by(2).collect();
        let many: Vec<usize> = (1..d).step_by(3).take(3 * FEW).collect();
        let mut of_many = vec![0.0; rows.len() * many.len()];
        columns.products(&rows, &many, &mut of_many)?;
        for (few, expected) in many.chunks(FEW - 1).zip(of_many.chunks((FEW - 1) * rows.len())) {
            let mut of_few = vec![0.0; expected.len()];
            columns.products(&rows, few, &mut of_few)?;
            assert!(of_few.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
        }
        assert!(of_many.iter().any(|product| *product > 0.1));
        Ok(())
    }

    /// Sums of many columns with several weights, dense and sparse, over several stretches of samples, are
    /// those of one column after the other.
    #[test]
    fn columns_are_combined_as_one_by_one() -> Result<(), Error> {
        let (n, d, k) = (2 * SAMPLES + 7, PANEL + 9, 3);
        let value = |i: usize, j: usize| if (i * 7 + j) % 11 < 8 { 0.0 } else { ((i * (j + 3)) % 13) as f64 };
        let table: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let stored = |column: &Vec<f64>| {
            let rows: Vec<usize> = (0..n).filter(|&i| column[i] != 0.0).collect();
            let values = rows.iter().map(|&i| column[i]).collect();
            (rows, values)
        };
        let dense = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
        let sparse = Dataset::new(Sparse(table.iter().map(stored).collect(), n), Target::None)?;
        let chosen: Vec<usize> = (0..d).filter(|j| j % 5 != 2).collect();
        let weights: Vec<f64> = (0..chosen.len() * k).map(|at| ((at * 29) % 17) as f64 - 8.0).collect();
        for data in [dense, sparse] {
            let columns = LinearColumns::with_outputs(&data, "lufs", Vec::new(), &Context::default())?;
            let combined = columns.combined(&chosen, &weights)?;
            let outputs: Vec<Vec<(usize, f64)>> = (0..k)
                .map(|at| chosen.iter().enumerate().map(|(place, &j)| (j, weights[place * k + at])).collect())
                .collect();
            let fitted = columns.fitted(&outputs)?;
            assert!(combined.iter().zip(&fitted).all(|(a, b)| (a - b).abs() < 1e-9));
            assert_eq!(combined.len(), n * k);
        }
        Ok(())
    }

    /// Columns of a table in memory, dense or sparse, are not copied, and have the products of copies; those
    /// far from zero, or of a size that would overflow, are copied.
    #[test]
    fn columns_in_memory_have_the_products_of_copies() -> Result<(), Error> {
        let n = 30;
        let value =
            |i: usize, j: usize| if (i + j).is_multiple_of(2) { 0.0 } else { ((i * (j + 3)) % 13) as f64 };
        // The last two: far from zero, and huge.
        let map = |j: usize, value: f64| match j {
            6 => 1e6 + value,
            7 => 1e200 * value,
            _ => value,
        };
        let table: Vec<Vec<f64>> = (0..8).map(|j| (0..n).map(|i| map(j, value(i, j))).collect()).collect();
        let stored = |column: &Vec<f64>| {
            let rows: Vec<usize> = (0..n).filter(|&i| column[i] != 0.0).collect();
            let values = rows.iter().map(|&i| column[i]).collect();
            (rows, values)
        };
        let target = Target::real((0..n).map(|i| ((i * i) % 17) as f64).collect())?;
        let dense = Dataset::new(DenseColumns::from_columns(&table)?, target.clone())?;
        let sparse = Dataset::new(Sparse(table.iter().map(stored).collect(), n), target.clone())?;
        let copy = table.clone();
        let fill = move |j: usize, out: &mut [f64]| {
            out.copy_from_slice(&copy[j]);
            Ok(())
        };
        let copied = Dataset::new(OnDemand::new(n, 8, fill), target)?;
        let context = Context::default();
        let copied = LinearColumns::new(&copied, "lasso", &context)?;
        assert_eq!(copied.copies.len(), 8 * n);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        for (data, is_dense) in [(dense, true), (sparse, false)] {
            let found = LinearColumns::new(&data, "lasso", &context)?;
            assert_eq!(found.copies.len(), 2 * n);
            assert!(close(&found.outputs[0], &copied.outputs[0]));
            let (rows, support, weights) = ([7, 0, 6, 2, 5], [1, 3, 6, 7], [0.5, -2.0, 1.5, 0.25]);
            let (mut products, mut expected) = ([0.0; 20], [0.0; 20]);
            found.products(&rows, &support, &mut products)?;
            copied.products(&rows, &support, &mut expected)?;
            assert!(close(&products, &expected));
            if is_dense {
                // Wherever a column is, the same numbers come of it.
                assert_eq!((&found.outputs, products), (&copied.outputs, expected));
            }
            let mut left = [1.0; 5];
            found.subtract_fitted(&rows, &support, &weights, &mut left)?;
            let taken = |i: usize| (0..4).map(|s| weights[s] * expected[i + 5 * s]).sum::<f64>();
            assert!(close(&left, &(0..5).map(|i| 1.0 - taken(i)).collect::<Vec<f64>>()), "{left:?}");
        }
        Ok(())
    }

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
        for place in &mut columns.places {
            if let Place::Copy { scale, shift, .. } = *place {
                *place = Place::Read { scale, shift };
            }
        }
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
