//! The Cox partial likelihood.

use fewest_core::order;

use super::{LONGEST_STEP, Loss, Samples};
use crate::Error;

fewest_core::words! {
    /// How events at the same time are counted.
    #[derive(Default)]
    pub enum Ties {
        /// All of them against all who were at risk (Breslow 1974).
        #[default]
        Breslow = "breslow",
        /// One after the other, with less and less weight at risk (Efron 1977).
        Efron = "efron",
    }
}

/// The negative log partial likelihood of the proportional hazards model (Cox 1972), less what no fitted
/// values can avoid:
///
/// ```text
/// ℓ(z) = Σₖ wₖ [ ln Σⱼ cₖⱼ exp(zⱼ) − Σⱼ aₖⱼ (zⱼ + ln(cₖⱼ/aₖⱼ)) ]
/// ```
///
/// with a term `k` for each time of an event (Breslow) or each event (Efron). `cₖⱼ` is what sample `j` counts
/// if it is still at risk, less for those who share the time under Efron's rule, `aₖ` the mean of the samples
/// with an event then, and `wₖ` what those count. Without weights and ties it is the mean over samples (or
/// the sum: [`Samples::sum`]) as it is usually written. With `pₖⱼ = cₖⱼ exp(zⱼ) / Σ` each term is the
/// divergence of `aₖ` from `pₖ`, at least 0, and `Θ = Σₖ wₖ (aₖ − pₖ)`. A constant added to all fitted values
/// changes nothing, so there is no intercept, and `Θ` sums to 0. The duality gap uses the distributions
/// `(1 − t) aₖ + t pₖ`, whose dual point is `tΘ`.
///
/// The curvature is `diag(Σₖ wₖ pₖ)`, and the Hessian that less `Σₖ wₖ pₖ pₖᵀ`. Cost: `O(n)` for each
/// function, after sorting.
#[derive(Debug, Clone, PartialEq)]
pub struct Cox {
    /// The samples by decreasing time, in groups of the same time: where each starts, and how many of its
    /// samples, which come first, have an event.
    order: Vec<usize>,
    groups: Vec<(usize, usize)>,
    samples: Samples,
    ties: Ties,
}

/// One term at one point.
struct Term {
    group: usize,
    /// `wₖ`.
    weight: f64,
    /// The share of their weight that the samples with an event in the group are at risk with.
    at_risk: f64,
    /// `ln Σⱼ cₖⱼ exp(zⱼ)`.
    log_sum: f64,
}

/// `ln(eᵃ + eᵇ)`.
fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

impl Cox {
    /// The loss of samples with an event at `times`, or that were seen until then without one (`events` is
    /// false).
    ///
    /// # Errors
    /// [`Error::NonFiniteTarget`] for a time; [`Error::ShapeMismatch`]; [`Error::TooFew`] unless a sample was
    /// at risk when another had an event.
    pub fn new(times: &[f64], events: &[bool], ties: Ties, samples: Samples) -> Result<Self, Error> {
        let n = times.len();
        for (what, found) in [("events", events.len()), ("samples of a loss", samples.len())] {
            if found != n {
                return Err(Error::ShapeMismatch { what, expected: n, found });
            }
        }
        samples.check_outputs(n)?;
        if let Some(row) = times.iter().position(|time| !time.is_finite()) {
            return Err(Error::NonFiniteTarget { row, value: times[row] });
        }
        let counts = |i: usize| samples.share(i) > 0.0;
        let mut by_time = order::descending(times);
        by_time.retain(|&i| counts(i));
        let (mut order, mut groups, mut comparisons) = (Vec::with_capacity(n), Vec::new(), 0);
        for group in by_time.chunk_by(|&i, &j| times[i] == times[j]) {
            let (with, without): (Vec<usize>, Vec<usize>) = group.iter().partition(|&&i| events[i]);
            groups.push((order.len(), with.len()));
            order.extend(&with);
            order.extend(without);
            comparisons += usize::from(!with.is_empty() && order.len() > 1);
        }
        if comparisons == 0 {
            let what = "events at which another sample was at risk";
            return Err(Error::TooFew { what, minimum: 1, found: 0 });
        }
        Ok(Self { order, groups, samples, ties })
    }

    /// The logarithm of what sample `i` counts, times its hazard.
    fn log_hazard(&self, fitted: &[f64], i: usize) -> f64 {
        self.samples.share(i).ln() + self.z(fitted, i)
    }

    /// What some samples count together.
    fn weight(&self, members: &[usize]) -> f64 {
        members.iter().map(|&i| self.samples.share(i)).sum()
    }

    fn z(&self, fitted: &[f64], i: usize) -> f64 {
        fitted[i] + self.samples.offset(i)
    }

    /// The members of a group, and those of them with an event.
    fn group(&self, group: usize) -> (&[usize], &[usize]) {
        let (start, n_events) = self.groups[group];
        let end = self.groups.get(group + 1).map_or(self.order.len(), |(start, _)| *start);
        (&self.order[start..end], &self.order[start..start + n_events])
    }

    /// The terms, by decreasing time.
    fn terms(&self, fitted: &[f64]) -> Vec<Term> {
        let log = |i: usize| self.log_hazard(fitted, i);
        let mut later = f64::NEG_INFINITY;
        let mut terms = Vec::new();
        for group in 0..self.groups.len() {
            let (members, with_event) = self.group(group);
            let own = with_event.iter().fold(f64::NEG_INFINITY, |sum, &i| log_add(sum, log(i)));
            let others = members[with_event.len()..].iter().fold(later, |sum, &i| log_add(sum, log(i)));
            let weight = self.weight(with_event);
            let n = with_event.len();
            let n_terms = if self.ties == Ties::Efron { n } else { n.min(1) };
            for l in 0..n_terms {
                let at_risk = 1.0 - l as f64 / n as f64;
                let log_sum = log_add(others, own + at_risk.ln());
                terms.push(Term { group, weight: weight / n_terms as f64, at_risk, log_sum });
            }
            later = log_add(others, own);
        }
        terms
    }

    /// `Σₖ wₖ pₖⱼ` of every sample.
    fn hazards(&self, fitted: &[f64]) -> Vec<f64> {
        let terms = self.terms(fitted);
        let mut hazards = vec![0.0; fitted.len()];
        // From the earliest time on: `ln Σ wₖ / Σⱼ cₖⱼ exp(zⱼ)` of the terms so far.
        let mut before = f64::NEG_INFINITY;
        let mut next = terms.len();
        for group in (0..self.groups.len()).rev() {
            let (members, with_event) = self.group(group);
            let (mut all, mut own) = (before, before);
            while let Some(term) = next.checked_sub(1).map(|at| &terms[at]).filter(|term| term.group == group)
            {
                next -= 1;
                let log = term.weight.ln() - term.log_sum;
                all = log_add(all, log);
                own = log_add(own, log + term.at_risk.ln());
            }
            for (at, &i) in members.iter().enumerate() {
                let sum = if at < with_event.len() { own } else { all };
                hazards[i] = (self.log_hazard(fitted, i) + sum).exp();
            }
            before = all;
        }
        hazards
    }
}

impl Loss for Cox {
    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn value(&self, fitted: &[f64]) -> f64 {
        let term = |term: &Term| {
            let with_event = self.group(term.group).1;
            let weight = self.weight(with_event);
            let sum: f64 = with_event.iter().map(|&i| self.samples.share(i) * self.z(fitted, i)).sum();
            let divergence = term.log_sum - sum / weight - (term.at_risk * weight).ln();
            // Below 0 by rounding; what is no number stays so.
            if divergence < 0.0 { 0.0 } else { term.weight * divergence }
        };
        self.terms(fitted).iter().map(term).sum()
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        for (out, hazard) in out.iter_mut().zip(self.hazards(fitted)) {
            *out = -hazard;
        }
        for group in 0..self.groups.len() {
            for &i in self.group(group).1 {
                out[i] += self.samples.share(i);
            }
        }
    }

    fn curvature(&self, fitted: &[f64], out: &mut [f64]) {
        let mut dual = vec![0.0; fitted.len()];
        self.dual_point(fitted, &mut dual);
        for ((out, hazard), dual) in out.iter_mut().zip(self.hazards(fitted)).zip(dual) {
            *out = hazard.max(dual.abs() / LONGEST_STEP);
        }
    }

    /// `√wₖ ⟨pₖ, x⟩` of every term, by decreasing time.
    fn reductions(&self, fitted: &[f64], columns: &[f64], _: &[usize]) -> Vec<f64> {
        let terms = self.terms(fitted);
        // Sums over those at risk are kept relative to their own total, which grows from group to group.
        let log = |i: usize| self.log_hazard(fitted, i);
        let (mut shares, mut decays, mut totals) = (vec![0.0; fitted.len()], Vec::new(), Vec::new());
        let mut before = f64::NEG_INFINITY;
        for group in 0..self.groups.len() {
            let (members, _) = self.group(group);
            let total = members.iter().fold(before, |sum, &i| log_add(sum, log(i)));
            members.iter().for_each(|&i| shares[i] = (log(i) - total).exp());
            decays.push((before - total).exp());
            totals.push(total);
            before = total;
        }
        let scales: Vec<f64> =
            terms.iter().map(|term| term.weight.sqrt() * (totals[term.group] - term.log_sum).exp()).collect();
        let mut out = Vec::with_capacity(terms.len() * (columns.len() / fitted.len()));
        for column in columns.chunks_exact(fitted.len()) {
            let (mut at_risk, mut next) = (0.0, 0);
            for (group, decay) in decays.iter().enumerate() {
                let (members, with_event) = self.group(group);
                let sum = |members: &[usize]| members.iter().map(|&i| shares[i] * column[i]).sum::<f64>();
                let own = sum(with_event);
                let others = decay * at_risk + sum(&members[with_event.len()..]);
                while let Some(term) = terms.get(next).filter(|term| term.group == group) {
                    out.push(scales[next] * (others + term.at_risk * own));
                    next += 1;
                }
                at_risk = others + own;
            }
        }
        out
    }

    /// Sums to zero as it is.
    fn balance(&self, _: &mut [f64]) {}

    /// `Σₖ wₖ` times the divergence of `(1 − t) aₖ + t pₖ` from `pₖ`.
    fn loss_gap(&self, fitted: &[f64], _: &[f64], scale: f64) -> f64 {
        let mut sum = 0.0;
        for term in self.terms(fitted) {
            let with_event = self.group(term.group).1;
            let total = self.weight(with_event);
            // Those who have no event then keep the share t of their p.
            let (mut divergence, mut rest) = (0.0, 1.0);
            for &i in with_event {
                let a = self.samples.share(i) / total;
                let log_p = self.log_hazard(fitted, i) + term.at_risk.ln() - term.log_sum;
                let p = log_p.exp();
                let q = (1.0 - scale) * a + scale * p;
                // The quotient is exact where q is p, the difference does not need p.
                let log = if p >= f64::MIN_POSITIVE { (q / p).ln() } else { q.ln() - log_p };
                divergence += p - q + if q > 0.0 { q * log } else { 0.0 };
                rest -= p;
            }
            if scale < 1.0 && rest > 0.0 {
                let left = if scale > 0.0 { scale * scale.ln() } else { 0.0 };
                divergence += rest * (1.0 - scale + left);
            }
            sum += term.weight * divergence.max(0.0);
        }
        sum
    }
}
