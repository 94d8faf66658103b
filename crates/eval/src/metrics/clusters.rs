//! Agreement of clusters with classes. It does not depend on the numbering of the clusters.

use std::collections::BTreeMap;

use fewest_core::{Classes, Error, Target};

use super::matching::best_matching;
use super::{Metric, both_classes};
use crate::Predictions;

/// The divisor of the mutual information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MutualInformationScale {
    /// The larger entropy, as in survey 002 Eq. (118).
    #[default]
    Larger,
    /// The mean of both entropies, as scikit-learn does by default.
    Mean,
}

/// Normalised mutual information between classes and clusters, `I(C, C′) / max(H(C), H(C′))` (survey 002 Eq.
/// 117–118), in `[0, 1]`. 1 if both have a single part, 0 if only one of them has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NormalisedMutualInformation {
    /// The divisor. Default: the larger entropy.
    pub scale: MutualInformationScale,
}

/// The share of samples whose class is the one assigned to their cluster, with the best assignment of at most
/// one class to each cluster (survey 002 Eq. 119), in `[0, 1]`. `O(c³)` for `c` classes or
/// clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusteringAccuracy;

/// The number of samples in each class and cluster: one row for each class, one column for each cluster that
/// occurs.
fn contingency(classes: &Classes, clusters: &[u32]) -> Vec<Vec<usize>> {
    let mut column = BTreeMap::new();
    for &cluster in clusters {
        let next = column.len();
        column.entry(cluster).or_insert(next);
    }
    let mut table = vec![vec![0; column.len()]; classes.n_classes()];
    for (&class, cluster) in classes.codes().iter().zip(clusters) {
        table[class as usize][column[cluster]] += 1;
    }
    table
}

fn entropy(counts: &[usize], n: f64) -> f64 {
    -counts.iter().filter(|&&count| count > 0).map(|&count| count as f64 / n).map(|p| p * p.ln()).sum::<f64>()
}

impl Metric for NormalisedMutualInformation {
    fn name(&self) -> &'static str {
        "nmi"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, clusters) = both_classes(self.name(), target, predicted)?;
        let table = contingency(classes, clusters);
        let n = clusters.len() as f64;
        let by_class: Vec<usize> = table.iter().map(|row| row.iter().sum()).collect();
        let by_cluster: Vec<usize> =
            (0..table.first().map_or(0, Vec::len)).map(|j| table.iter().map(|row| row[j]).sum()).collect();
        let mut information = 0.0;
        for (row, &in_class) in table.iter().zip(&by_class) {
            for (&both, &in_cluster) in row.iter().zip(&by_cluster) {
                if both > 0 {
                    let both = both as f64;
                    information += both / n * (both * n / (in_class as f64 * in_cluster as f64)).ln();
                }
            }
        }
        let (a, b) = (entropy(&by_class, n), entropy(&by_cluster, n));
        let scale = match self.scale {
            MutualInformationScale::Larger => a.max(b),
            MutualInformationScale::Mean => 0.5 * (a + b),
        };
        Ok(if scale > 0.0 { (information / scale).clamp(0.0, 1.0) } else { 1.0 })
    }
}

impl Metric for ClusteringAccuracy {
    fn name(&self) -> &'static str {
        "clustering-accuracy"
    }

    fn greater_is_better(&self) -> bool {
        true
    }

    fn score(&self, target: &Target, predicted: &Predictions) -> Result<f64, Error> {
        let (classes, clusters) = both_classes(self.name(), target, predicted)?;
        Ok(best_matching(&contingency(classes, clusters)) as f64 / clusters.len() as f64)
    }
}
