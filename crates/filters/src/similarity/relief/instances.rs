//! Samples with features scaled by their range, and sums of their differences.

use fewest_core::{Context, Dataset, Error, FeatureKind};
use fewest_neighbours::{Coordinate, DistanceMetric, Distances, Samples};

use crate::similarity::feature::is_constant;

/// Features handled together in the second step: their sums fit the registers of a processor.
const WIDTH: usize = 32;
/// Pairs of samples whose weights are held at a time.
const PAIRS: usize = 1 << 20;
/// Fewest samples in a block.
const SMALLEST_BLOCK: usize = 64;

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

/// Up to [`WIDTH`] features of one kind, sample after sample.
struct Panel {
    features: Vec<usize>,
    difference: Difference,
    values: Vec<f64>,
}

/// The samples, laid out for both steps: twice the memory of the data.
pub(super) struct Instances {
    samples: Samples,
    panels: Vec<Panel>,
    n_features: usize,
}

impl Instances {
    /// From the features of `data`; constant ones take no part. `metric` is [`DistanceMetric::Manhattan`], or
    /// [`DistanceMetric::SquaredEuclidean`] for squared differences throughout.
    pub(super) fn new(data: &Dataset, metric: DistanceMetric) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let is_category = |j: usize| matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
        let coordinates: Vec<Coordinate> = (0..data.n_features())
            .map(|j| if is_category(j) { Coordinate::Category(1.0) } else { Coordinate::Numeric })
            .collect();
        let fill = |j: usize, out: &mut [f64]| {
            data.x().copy_column(j, out)?;
            data.check_finite(j, out)?;
            if !is_category(j) {
                scale_by_range(out);
            }
            Ok(())
        };
        let samples = Samples::pack(metric, n, &coordinates, fill)?;
        let numeric = match metric {
            DistanceMetric::SquaredEuclidean => Difference::Squared,
            DistanceMetric::Manhattan | DistanceMetric::Cosine => Difference::Absolute,
        };
        let (categories, numbers): (Vec<usize>, Vec<usize>) =
            (0..data.n_features()).partition(|&j| is_category(j));
        let groups: Vec<(Difference, &[usize])> = numbers
            .chunks(WIDTH)
            .map(|features| (numeric, features))
            .chain(categories.chunks(WIDTH).map(|features| (Difference::Mismatch, features)))
            .collect();
        let panels = fewest_parallel::try_map(groups.len(), |group| {
            let (difference, features) = groups[group];
            let mut values = vec![0.0; n * WIDTH];
            let mut column = vec![0.0; n];
            for (at, &j) in features.iter().enumerate() {
                fill(j, &mut column)?;
                for (row, &value) in values.chunks_exact_mut(WIDTH).zip(&column) {
                    row[at] = value;
                }
            }
            Ok::<Panel, Error>(Panel { features: features.to_vec(), difference, values })
        })?;
        Ok(Self { samples, panels, n_features: data.n_features() })
    }

    /// The distances between the samples.
    pub(super) fn distances(&self) -> Distances<'_> {
        Distances::new(&self.samples)
    }

    /// The differences between samples and their neighbours, weighted.
    pub(super) fn weighted_differences<const M: usize>(
        &self,
        distances: &Distances<'_>,
        context: &Context<'_>,
        neighbours: impl Fn(usize, &[f64]) -> Vec<Neighbour<M>> + Sync,
    ) -> Result<Weighted<M>, Error> {
        let n = self.samples.n_samples();
        let block = SMALLEST_BLOCK.max(PAIRS / n);
        let mut sums = vec![[[0.0; WIDTH]; M]; self.panels.len()];
        let mut total = [0.0; M];
        for start in (0..n).step_by(block) {
            let end = n.min(start + block);
            let lists = distances.map_rows(start..end, context, &neighbours)?;
            for (_, weights) in lists.iter().flatten() {
                for m in 0..M {
                    total[m] += weights[m];
                }
            }
            fewest_parallel::chunks(&mut sums, 1, |at, sums| {
                for (panel, sums) in self.panels[at..].iter().zip(sums) {
                    for (i, list) in (start..end).zip(&lists) {
                        match panel.difference {
                            Difference::Absolute => add_absolute(&panel.values, i, list, sums),
                            Difference::Squared => add_squared(&panel.values, i, list, sums),
                            Difference::Mismatch => add_mismatches(&panel.values, i, list, sums),
                        }
                    }
                }
            });
            context.report("relief", end, n);
        }
        let mut features = vec![[0.0; M]; self.n_features];
        for (panel, sums) in self.panels.iter().zip(&sums) {
            for (at, &j) in panel.features.iter().enumerate() {
                for m in 0..M {
                    features[j][m] = sums[m][at];
                }
            }
        }
        Ok(Weighted { features, total })
    }
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
