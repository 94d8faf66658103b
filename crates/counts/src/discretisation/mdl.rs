//! Cuts by minimum description length: Fayyad & Irani, *Multi-interval discretization of continuous-valued
//! attributes for classification learning*, IJCAI 1993.

use fewest_core::order;

use super::{Levels, sorted_order};

/// Cuts a range of `N` samples where the entropy of the classes after the cut is smallest, and both parts
/// again, as long as the gain in bits is above `(log₂(N - 1) + log₂(3^c - 2) - [c H - c₁ H₁ - c₂ H₂]) / N`,
/// with `c` the number of classes in a range and `H` their entropy.
pub(super) fn levels(values: &[f64], classes: &Levels) -> Levels {
    let order = sorted_order(values);
    let sorted: Vec<f64> = order.iter().map(|&row| values[row as usize]).collect();
    let labels: Vec<u32> = order.iter().map(|&row| classes.codes[row as usize]).collect();
    let mut search = Search {
        sorted: &sorted,
        labels: &labels,
        log_sums: (0..=values.len()).map(|count| count as f64 * (count.max(1) as f64).log2()).collect(),
        left: vec![0; classes.n_levels],
        right: vec![0; classes.n_levels],
    };
    let mut starts = vec![0];
    let mut stretches = vec![(0, values.len())];
    while let Some((start, end)) = stretches.pop() {
        if let Some(cut) = search.cut(start, end) {
            starts.push(cut);
            stretches.extend([(start, cut), (cut, end)]);
        }
    }
    order::sort_indices(&mut starts);
    let mut codes = vec![0; values.len()];
    let mut level = 0;
    for (position, &row) in order.iter().enumerate() {
        while starts.get(level + 1).is_some_and(|start| *start <= position) {
            level += 1;
        }
        codes[row as usize] = level as u32;
    }
    Levels { codes, n_levels: starts.len() }
}

struct Search<'a> {
    sorted: &'a [f64],
    labels: &'a [u32],
    /// `c log₂ c` for every count.
    log_sums: Vec<f64>,
    left: Vec<usize>,
    right: Vec<usize>,
}

impl Search<'_> {
    /// The best cut of the range `start..end`: the first sample of its second part.
    fn cut(&mut self, start: usize, end: usize) -> Option<usize> {
        let n = end - start;
        self.left.fill(0);
        self.right.fill(0);
        for &label in &self.labels[start..end] {
            self.right[label as usize] += 1;
        }
        let whole = part(&self.log_sums, &self.right, n);
        // The sums of c log c of both sides, kept up to date one sample at a time.
        let mut best: Option<(f64, usize)> = None;
        let (mut left_sum, mut right_sum) = (0.0, whole.sum);
        for position in start + 1..end {
            let label = self.labels[position - 1] as usize;
            let (before, after) = (self.left[label], self.right[label]);
            left_sum += self.log_sums[before + 1] - self.log_sums[before];
            right_sum += self.log_sums[after - 1] - self.log_sums[after];
            self.left[label] += 1;
            self.right[label] -= 1;
            if self.sorted[position] > self.sorted[position - 1] {
                let sizes = self.log_sums[position - start] + self.log_sums[end - position];
                let bits = sizes - left_sum - right_sum;
                if best.is_none_or(|(least, _)| bits < least - 1e-9) {
                    best = Some((bits, position));
                }
            }
        }
        let (bits, position) = best?;
        self.left.fill(0);
        self.right.fill(0);
        for &label in &self.labels[start..position] {
            self.left[label as usize] += 1;
        }
        for &label in &self.labels[position..end] {
            self.right[label as usize] += 1;
        }
        let first = part(&self.log_sums, &self.left, position - start);
        let second = part(&self.log_sums, &self.right, end - position);
        let saved =
            whole.classes * whole.entropy - first.classes * first.entropy - second.classes * second.entropy;
        // log₂(3^c - 2), without computing 3^c.
        let choices = whole.classes * 3_f64.log2() + (-2.0 * 3_f64.powf(-whole.classes)).ln_1p() / 2_f64.ln();
        let price = ((n - 1) as f64).log2() + choices - saved;
        (whole.entropy * n as f64 - bits > price).then_some(position)
    }
}

/// The classes of a range.
struct Part {
    /// `Σ c log₂ c` over the classes' counts.
    sum: f64,
    /// Number of classes that occur.
    classes: f64,
    /// Entropy in bits.
    entropy: f64,
}

fn part(log_sums: &[f64], counts: &[usize], n: usize) -> Part {
    let sum = counts.iter().map(|&count| log_sums[count]).sum();
    let classes = counts.iter().filter(|count| **count > 0).count() as f64;
    Part { sum, classes, entropy: ((n as f64).log2() - sum / n as f64).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(values: &[f64], labels: &[u32]) -> Levels {
        levels(values, &Levels::from_keys(labels))
    }

    #[test]
    fn cuts_where_the_classes_change() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 60)).collect();
        let labels: Vec<u32> =
            values.iter().map(|value| u32::from(*value >= 20.0) + u32::from(*value >= 45.0)).collect();
        let found = cut(&values, &labels);
        assert_eq!((&found.codes[..], found.n_levels), (&labels[..], 3));
    }

    #[test]
    fn noise_is_one_level() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i * 77 % 200)).collect();
        let labels: Vec<u32> = (0..200).map(|i| i % 2).collect();
        assert_eq!(cut(&values, &labels).n_levels, 1);
    }

    /// The definition: with probabilities, trying every cut.
    #[test]
    fn the_first_cut_is_that_of_the_definition() {
        let entropy = |labels: &[u32]| -> (f64, f64) {
            let share = |class: u32| {
                labels.iter().filter(|label| **label == class).count() as f64 / labels.len() as f64
            };
            let shares: Vec<f64> = (0..3).map(share).filter(|share| *share > 0.0).collect();
            (shares.iter().map(|p| -p * p.log2()).sum(), shares.len() as f64)
        };
        let mut seen = [false; 2];
        for shift in 0..40 {
            let n = 14;
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let labels: Vec<u32> =
                (0..n).map(|i| ((i * (3 + shift) + shift * i * i / 5) / 7 % 3) as u32).collect();
            let (whole, classes) = entropy(&labels);
            let pays = (1..n as usize).any(|at| {
                let ((first, c1), (second, c2)) = (entropy(&labels[..at]), entropy(&labels[at..]));
                let after = (at as f64 * first + (n as usize - at) as f64 * second) / f64::from(n);
                let price = f64::from(n - 1).log2() + (3_f64.powf(classes) - 2.0).log2()
                    - (classes * whole - c1 * first - c2 * second);
                let is_best = (1..n as usize).all(|other| {
                    let ((first, _), (second, _)) = (entropy(&labels[..other]), entropy(&labels[other..]));
                    after
                        <= (other as f64 * first + (n as usize - other) as f64 * second) / f64::from(n)
                            + 1e-12
                });
                is_best && whole - after > price / f64::from(n)
            });
            assert_eq!(cut(&values, &labels).n_levels > 1, pays, "{labels:?}");
            seen[usize::from(pays)] = true;
        }
        assert_eq!(seen, [true; 2], "both outcomes must occur");
    }

    #[test]
    fn one_sample_one_value_one_class() {
        assert_eq!(cut(&[1.0], &[0]).n_levels, 1);
        assert_eq!(cut(&[2.0; 9], &[0, 1, 0, 1, 0, 1, 0, 1, 0]).n_levels, 1);
        assert_eq!(cut(&[1.0, 2.0, 3.0], &[4, 4, 4]).n_levels, 1);
    }
}
