//! Samples with features scaled by their range, and sums of their differences.

use fewest_core::{Context, Dataset, Error, FeatureKind};
use fewest_neighbours::{Coordinate, DistanceMetric, Distances};

use crate::similarity::feature::is_constant;

/// Features handled together in the second step: their sums fit the registers of a processor.
const WIDTH: usize = 32;
/// Pairs of samples whose weights are held at a time, but for those of [`BLOCK`] samples.
const PAIRS: usize = 1 << 20;
/// Samples whose neighbours are looked for at a time.
const BLOCK: usize = 512;

/// A neighbour with `M` weights.
pub(super) type Neighbour<const M: usize> = (usize, [f64; M]);

/// Sums over all samples `i` and their neighbours `r` with weights `w`.
pub(super) struct Weighted<const M: usize> {
    /// `Σ_i Σ_r w_m diff(j; i, r)` for every feature `j`.
    pub(super) features: Vec<[f64; M]>,
    /// `Σ_i Σ_r w_m`.
    pub(super) total: [f64; M],
}

/// How values differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    Absolute,
    Squared,
    Mismatch,
}

/// The samples of a data set, and the distances between them.
pub(super) struct Instances<'a> {
    data: &'a Dataset,
    distances: Distances,
    /// Up to [`WIDTH`] features of one kind.
    panels: Vec<(Difference, Vec<usize>)>,
}

impl<'a> Instances<'a> {
    /// From the features of `data`; constant ones take no part. `metric` is [`DistanceMetric::Manhattan`], or
    /// [`DistanceMetric::SquaredEuclidean`] for squared differences throughout.
    pub(super) fn new(
        data: &'a Dataset,
        metric: DistanceMetric,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let (categories, numbers): (Vec<usize>, Vec<usize>) =
            (0..data.n_features()).partition(|&j| is_category(data, j));
        let mut coordinates = vec![Coordinate::Numeric; data.n_features()];
        categories.iter().for_each(|&j| coordinates[j] = Coordinate::Category(1.0));
        let distances = Distances::new(metric, n, &coordinates, |j, out| fill(data, j, out), context)?;
        let numeric = match metric {
            DistanceMetric::SquaredEuclidean => Difference::Squared,
            DistanceMetric::Manhattan | DistanceMetric::Cosine => Difference::Absolute,
        };
        let panels = numbers
            .chunks(WIDTH)
            .map(|features| (numeric, features.to_vec()))
            .chain(categories.chunks(WIDTH).map(|features| (Difference::Mismatch, features.to_vec())))
            .collect();
        Ok(Self { data, distances, panels })
    }

    /// The distances between the samples.
    pub(super) fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The differences between samples and their neighbours, weighted.
    pub(super) fn weighted_differences<const M: usize>(
        &self,
        context: &Context<'_>,
        neighbours: impl Fn(usize, &[f64]) -> Vec<Neighbour<M>> + Sync,
    ) -> Result<Weighted<M>, Error> {
        let n = self.distances.n_samples();
        let mut sums = vec![[[0.0; WIDTH]; M]; self.panels.len()];
        let mut total = [0.0; M];
        let mut end = 0;
        while end < n {
            // The features are read again for the neighbours of as many samples as there is room for.
            let start = end;
            let mut lists = Vec::new();
            let mut n_pairs = 0;
            while end < n && n_pairs < PAIRS {
                let block = end..n.min(end + BLOCK);
                end = block.end;
                let found = self.distances.map_rows(block, context, &neighbours)?;
                n_pairs += found.iter().map(Vec::len).sum::<usize>();
                lists.extend(found);
            }
            for (_, weights) in lists.iter().flatten() {
                for m in 0..M {
                    total[m] += weights[m];
                }
            }
            let added = fewest_parallel::chunks(&mut sums, 1, |at, sums| {
                context.go_on("the differences of all features were known")?;
                for ((difference, features), sums) in self.panels[at..].iter().zip(sums) {
                    let values = self.panel(features)?;
                    for (i, list) in (start..end).zip(&lists) {
                        match difference {
                            Difference::Absolute => add_absolute(&values, i, list, sums),
                            Difference::Squared => add_squared(&values, i, list, sums),
                            Difference::Mismatch => add_mismatches(&values, i, list, sums),
                        }
                    }
                }
                Ok::<(), Error>(())
            });
            added.into_iter().collect::<Result<(), Error>>()?;
            context.report("relief", end, n);
        }
        let mut features = vec![[0.0; M]; self.data.n_features()];
        for ((_, of_panel), sums) in self.panels.iter().zip(&sums) {
            for (at, &j) in of_panel.iter().enumerate() {
                for m in 0..M {
                    features[j][m] = sums[m][at];
                }
            }
        }
        Ok(Weighted { features, total })
    }

    /// Up to [`WIDTH`] features, sample after sample.
    fn panel(&self, features: &[usize]) -> Result<Vec<f64>, Error> {
        let n = self.data.n_samples();
        let (mut values, mut column) = (vec![0.0; n * WIDTH], vec![0.0; n]);
        for (at, &j) in features.iter().enumerate() {
            fill(self.data, j, &mut column)?;
            for (row, &value) in values.chunks_exact_mut(WIDTH).zip(&column) {
                row[at] = value;
            }
        }
        Ok(values)
    }
}

fn is_category(data: &Dataset, j: usize) -> bool {
    matches!(data.feature_kind(j), FeatureKind::Categorical { .. })
}

/// Feature `j`, a number scaled by its range.
fn fill(data: &Dataset, j: usize, out: &mut [f64]) -> Result<(), Error> {
    data.x().copy_column(j, out)?;
    data.check_finite(j, out)?;
    if !is_category(data, j) {
        scale_by_range(out);
    }
    Ok(())
}

/// To `(x − min) / (max − min)`; a constant becomes 0.
fn scale_by_range(values: &mut [f64]) {
    if is_constant(values) {
        values.fill(0.0);
        return;
    }
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = largest - smallest;
    if range.is_finite() {
        values.iter_mut().for_each(|value| *value = (*value - smallest) / range);
    } else {
        let half = 0.5 * largest - 0.5 * smallest;
        values.iter_mut().for_each(|value| *value = (0.5 * *value - 0.5 * smallest) / half);
    }
}

#[inline(always)]
fn add<const M: usize, const FMA: bool>(
    values: &[f64],
    i: usize,
    list: &[Neighbour<M>],
    sums: &mut [[f64; WIDTH]; M],
    difference: impl Fn(f64, f64) -> f64,
) {
    let row = |i: usize| values[i * WIDTH..].first_chunk::<WIDTH>().unwrap_or(&[0.0; WIDTH]);
    let here = *row(i);
    let mut local = *sums;
    for (r, weights) in list {
        let there = row(*r);
        for m in 0..M {
            for s in 0..WIDTH {
                let difference = difference(here[s], there[s]);
                local[m][s] = if FMA {
                    difference.mul_add(weights[m], local[m][s])
                } else {
                    difference * weights[m] + local[m][s]
                };
            }
        }
    }
    *sums = local;
}

/// Defines `add` for one kind of difference, compiled for the machine the program runs on.
macro_rules! dispatched {
    ($name:ident, $difference:expr) => {
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
            "x86_64+avx2+fma",
        ))]
        fn $name<const M: usize>(
            values: &[f64],
            i: usize,
            list: &[Neighbour<M>],
            sums: &mut [[f64; WIDTH]; M],
        ) {
            // Without the instruction, a fused product would call a slow library function for every element.
            if cfg!(target_arch = "aarch64") || multiversion::target::target_cfg_f!(target_feature = "fma") {
                add::<M, true>(values, i, list, sums, $difference);
            } else {
                add::<M, false>(values, i, list, sums, $difference);
            }
        }
    };
}

dispatched!(add_absolute, |a, b| (a - b).abs());
dispatched!(add_squared, |a, b| (a - b) * (a - b));
dispatched!(add_mismatches, |a, b| if a == b { 0.0 } else { 1.0 });
