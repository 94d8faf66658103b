//! Standardised features and outputs as atoms of a linear model.

mod examination;
mod levels;
mod products;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;

use fewest_columns::{StandardOutput, Weights, finite_values, weighted_outputs};
use fewest_core::{Column, Context, Dataset, Error, FeatureKind, order, room};
use fewest_linalg::lanes;
use fewest_solver::{Atoms, InnerProducts, Quadratic};

use examination::Right;
use levels::LevelRows;
use stored::Stored;

/// Columns examined between two checks of the clock.
const ROUND: usize = 512;

/// Bytes that copies of standardised columns may take, and so many the rows of levels; beyond, columns are
/// built again when needed.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// One column of the linear model: a feature, or one level of a categorical feature with more than two.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) feature: usize,
    pub(super) level: Option<f64>,
}

/// Where the values of a column are.
#[derive(Clone, Copy)]
enum Place {
    /// In the table, which has them in memory, or ones in the rows of a level: standardised they are
    /// `scale · value − shift`.
    Table { scale: f64, shift: f64 },
    /// In a copy that starts here, of a column that the table does not have in memory, or of a standardised
    /// one. Of the former the same numbers are computed as of [`Table`](Self::Table), to the last bit.
    Copy { start: usize, scale: f64, shift: f64 },
    /// In the table, which reads the column each time.
    Read { scale: f64, shift: f64 },
    /// Nowhere: the column is built each time.
    Nowhere,
}

/// Columns of mean 0 and standard deviation 1, with products divided by the number of samples. Where samples
/// have weights, which are brought to a sum of that number, they are part of mean, deviation and product.
///
/// Columns that the table has in memory, dense or sparse, are not copied.
pub(super) struct LinearColumns<'a> {
    data: &'a Dataset,
    sources: Vec<Source>,
    levels: LevelRows,
    places: Vec<Place>,
    copies: Vec<f64>,
    weights: Option<Weights>,
    /// With the first output as target.
    atoms: Atoms,
    /// Bytes that `copies` may take, and so many the rows of levels.
    bytes: usize,
    /// The outputs that vary.
    targets: Vec<StandardOutput>,
    /// `xⱼᵀ yₒ / n` of every column, output by output.
    pub(super) outputs: Vec<Vec<f64>>,
    /// All products of columns, where they are known instead of values.
    gram: Option<Quadratic>,
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
        let (mut sources, mut levels) = (Vec::new(), LevelRows::default());
        for j in 0..data.n_features() {
            go_on()?;
            sources.extend(Source::of(data, j, (&mut levels, bytes))?);
        }
        let mut examined = Self {
            data,
            sources,
            levels,
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
            levels: LevelRows::default(),
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
                Stored { values: self.values(column, scratch)?, scale, shift }
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

    /// The values of the feature of a column, or ones in the rows of its level where these are kept.
    fn values<'s>(&'s self, column: usize, scratch: &'s mut Vec<f64>) -> Result<Column<'s>, Error> {
        match self.levels.column(column) {
            Some(values) => Ok(values),
            None => self.data.x().column(self.sources[column].feature, scratch),
        }
    }

    /// Number of samples.
    pub(super) fn n_samples(&self) -> usize {
        self.data.n_samples()
    }
}

/// Multiplies what belongs to each sample by its weight.
fn weigh(values: &mut [f64], weights: Option<&Weights>) {
    if let Some(weights) = weights {
        values.iter_mut().zip(weights.values()).for_each(|(value, weight)| *value *= weight);
    }
}

impl Source {
    /// The columns of feature `j`: itself, or its levels when it has more than two. Their rows join `rows`,
    /// as far as all of these take at most so many bytes.
    fn of(data: &Dataset, j: usize, (rows, bytes): (&mut LevelRows, usize)) -> Result<Vec<Self>, Error> {
        if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
            // Both zeros are one level.
            let values: Vec<f64> = finite_values(data, j)?.into_iter().map(|value| value + 0.0).collect();
            let levels = order::distinct(values.clone());
            if levels.len() > 2 {
                rows.add(&values, &levels, bytes);
                return Ok(levels.into_iter().map(|level| Self { feature: j, level: Some(level) }).collect());
            }
        }
        rows.add(&[], &[], bytes);
        Ok(vec![Self { feature: j, level: None }])
    }
}
