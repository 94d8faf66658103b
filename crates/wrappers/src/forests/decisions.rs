//! What Boruta knows of each feature.

use fewest_core::order;
use statrs::function::beta::checked_beta_reg;

/// What is decided of a feature, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decision {
    Confirmed,
    Tentative,
    Rejected,
}

/// A feature in the rounds that it took part in.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) decision: Decision,
    /// Rounds in which it was more important than the shadows.
    hits: usize,
    rounds: usize,
    /// The sum of its Z-scores.
    sum: f64,
}

impl Record {
    pub(super) fn new() -> Self {
        Self { decision: Decision::Tentative, hits: 0, rounds: 0, sum: 0.0 }
    }

    /// A round with its Z-score, and that of the shadows.
    pub(super) fn add(&mut self, z: f64, shadows: f64) {
        self.rounds += 1;
        self.hits += usize::from(z > shadows);
        self.sum += z;
    }

    /// Decides, if the two-sided test at level `alpha`, corrected for `n_tests`, does.
    pub(super) fn decide(&mut self, alpha: f64, n_tests: usize) {
        if self.decision != Decision::Tentative {
            return;
        }
        let level = alpha / (2.0 * n_tests as f64);
        if at_least(self.hits, self.rounds) < level {
            self.decision = Decision::Confirmed;
        } else if at_least(self.rounds - self.hits, self.rounds) < level {
            self.decision = Decision::Rejected;
        }
    }

    /// The mean of its Z-scores.
    pub(super) fn importance(&self) -> f64 {
        self.sum / self.rounds as f64
    }
}

/// `P(X ≥ k)` for `X ~ B(n, ½)`, which is also `P(X ≤ n − k)`.
fn at_least(k: usize, n: usize) -> f64 {
    if k == 0 {
        return 1.0;
    }
    checked_beta_reg(k as f64, (n - k) as f64 + 1.0, 0.5).unwrap_or(1.0)
}

/// Records, best first: by decision, then hits, then importance, then their order.
pub(super) fn ranking(records: &[Record]) -> Vec<usize> {
    let importances: Vec<f64> = records.iter().map(Record::importance).collect();
    let mut ranking = order::descending(&importances);
    ranking.sort_by_key(|&at| (records[at].decision, std::cmp::Reverse(records[at].hits)));
    ranking
}

/// The value below which this share of the values is, between two of them by their distance.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    order::sort(&mut values);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = values[(below + 1).min(last)];
    (1.0 - part) * values[below] + part * above
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(hits: usize, rounds: usize) -> Record {
        Record { hits, rounds, ..Record::new() }
    }

    /// By the coefficients of Pascal's triangle.
    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        let n = 12;
        let mut row = vec![1.0_f64];
        for _ in 0..n {
            row = (0..=row.len())
                .map(|k| row.get(k).unwrap_or(&0.0) + if k > 0 { row[k - 1] } else { 0.0 })
                .collect();
        }
        for k in 0..=n {
            let expected = row[k..].iter().sum::<f64>() / 4096.0;
            assert!((at_least(k, n) - expected).abs() < 1e-10, "{k}: {} for {expected}", at_least(k, n));
        }
        // Tails of many rounds are not lost to rounding.
        assert!((at_least(1000, 1000) / 0.5_f64.powi(1000) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn decisions_are_two_sided_and_final() {
        let decided = |hits, rounds, n_tests| {
            let mut record = record(hits, rounds);
            record.decide(0.01, n_tests);
            record.decision
        };
        // Of 10 features all of 11 rounds are needed, since 2·10/2^10 > 0.01 > 2·10/2^11.
        for (rounds, confirmed, rejected) in
            [(10, Decision::Tentative, Decision::Tentative), (11, Decision::Confirmed, Decision::Rejected)]
        {
            assert_eq!(decided(rounds, rounds, 10), confirmed);
            assert_eq!(decided(0, rounds, 10), rejected);
        }
        assert_eq!(decided(11, 11, 11), Decision::Tentative);
        assert_eq!(decided(50, 100, 1), Decision::Tentative);
        let mut settled = Record { decision: Decision::Rejected, ..record(100, 100) };
        settled.decide(0.01, 1);
        assert_eq!(settled.decision, Decision::Rejected);
    }

    #[test]
    fn the_order_is_by_decision_hits_and_importance() {
        let of = |decision, hits, sum| Record { decision, hits, rounds: 10, sum };
        let records = [
            of(Decision::Rejected, 9, 90.0),
            of(Decision::Tentative, 5, 1.0),
            of(Decision::Confirmed, 9, 2.0),
            of(Decision::Tentative, 5, 3.0),
            of(Decision::Confirmed, 10, 1.0),
            of(Decision::Tentative, 5, 3.0),
        ];
        assert_eq!(ranking(&records), [4, 2, 3, 5, 1, 0]);
    }

    #[test]
    fn quantiles_lie_between_the_values() {
        let of = |share| quantile(vec![3.0, 1.0, 2.0, 10.0, 4.0], share);
        assert_eq!((of(1.0), of(0.5), of(0.75)), (10.0, 3.0, 4.0));
        assert!((of(0.9) - 7.6).abs() < 1e-12);
        assert_eq!(quantile(vec![7.0], 0.3), 7.0);
    }
}
