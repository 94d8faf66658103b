//! More than two classes: a machine for each pair of them, and a vote (Knerr, Personnaz and Dreyfus 1990).

use fewest_core::order;
use fewest_solver::{Control, Error};

use crate::{Classifier, KernelRows, Machine};

/// The rows and columns of a kernel at some samples.
pub struct SubsetRows<'a> {
    rows: &'a dyn KernelRows,
    samples: Vec<usize>,
}

impl<'a> SubsetRows<'a> {
    /// `rows` at `samples`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a sample that does not exist.
    pub fn new(rows: &'a dyn KernelRows, samples: Vec<usize>) -> Result<Self, Error> {
        let expected = rows.len();
        match samples.iter().find(|&&i| i >= expected) {
            Some(&i) => Err(Error::ShapeMismatch { what: "samples of the kernel", expected, found: i + 1 }),
            None => Ok(Self { rows, samples }),
        }
    }
}

impl KernelRows for SubsetRows<'_> {
    fn len(&self) -> usize {
        self.samples.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.rows.diagonal(self.samples[i])
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        let mut whole = vec![0.0; self.rows.len()];
        self.rows.row(self.samples[i], &mut whole);
        for (value, &j) in out.iter_mut().zip(&self.samples) {
            *value = whole[j];
        }
    }
}

/// The machine of two classes; `f > 0` means the first.
#[derive(Debug, Clone, PartialEq)]
pub struct PairMachine {
    /// The two classes, the smaller code first.
    pub classes: [u32; 2],
    /// The samples it was trained on, which its coefficients belong to.
    pub samples: Vec<usize>,
    /// The machine.
    pub machine: Machine,
}

/// A machine for each pair of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairwise {
    /// The classes, increasing.
    pub classes: Vec<u32>,
    /// One for each pair, in the order (0, 1), (0, 2), …, (1, 2), ….
    pub machines: Vec<PairMachine>,
    n_samples: usize,
}

impl Pairwise {
    /// Trains `learner` on each pair of the classes in `codes`; its class weights go to the pair's second and
    /// first class.
    ///
    /// # Errors
    /// [`Error::TooFew`] with fewer than two classes; as [`Classifier::train`].
    pub fn train(
        learner: &Classifier,
        kernel: &dyn KernelRows,
        codes: &[u32],
        weights: &[f64],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        Self::train_from(learner, kernel, codes, weights, None, control)
    }

    /// As [`train`](Self::train), each machine from the coefficients of the corresponding machine in `start`,
    /// trained on the same samples.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn train_from(
        learner: &Classifier,
        kernel: &dyn KernelRows,
        codes: &[u32],
        weights: &[f64],
        start: Option<&Self>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let n_samples = kernel.len();
        check_shapes(n_samples, codes, weights)?;
        let classes = order::distinct_codes(codes.to_vec());
        if classes.len() < 2 {
            return Err(Error::TooFew { what: "classes", minimum: 2, found: classes.len() });
        }
        let mut machines: Vec<PairMachine> = Vec::new();
        for (classes, samples) in order::code_pairs(codes) {
            let labels: Vec<bool> = samples.iter().map(|&i| codes[i] == classes[0]).collect();
            let weights: Vec<f64> = samples.iter().filter_map(|&i| weights.get(i).copied()).collect();
            let rows = SubsetRows::new(kernel, samples.clone())?;
            let near = start.and_then(|start| start.machines.get(machines.len()));
            let near = near.map_or(&[][..], |near| &near.machine.dual.solution.coefficients);
            let machine = learner.train_from(&rows, &labels, &weights, near, control)?;
            machines.push(PairMachine { classes, samples, machine });
        }
        Ok(Self { classes, machines, n_samples })
    }

    pub(crate) fn check_shapes(
        &self,
        kernel: &dyn KernelRows,
        codes: &[u32],
        weights: &[f64],
    ) -> Result<(), Error> {
        if kernel.len() != self.n_samples {
            let (expected, found) = (self.n_samples, kernel.len());
            return Err(Error::ShapeMismatch { what: "samples of the kernel", expected, found });
        }
        check_shapes(self.n_samples, codes, weights)
    }

    /// The decision value of each machine, given `k(x_i, x)` for every training sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is one for each.
    pub(crate) fn decisions(&self, kernel_row: &[f64]) -> Result<Vec<f64>, Error> {
        if kernel_row.len() != self.n_samples {
            let (expected, found) = (self.n_samples, kernel_row.len());
            return Err(Error::ShapeMismatch { what: "kernel values of a sample", expected, found });
        }
        let decision = |pair: &PairMachine| {
            let row: Vec<f64> = pair.samples.iter().map(|&i| kernel_row[i]).collect();
            pair.machine.decision(&row)
        };
        self.machines.iter().map(decision).collect()
    }

    /// The class with most votes; at a tie the smaller code.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is one for each training sample.
    pub fn predict(&self, kernel_row: &[f64]) -> Result<u32, Error> {
        let decisions = self.decisions(kernel_row)?;
        let won = |(pair, decision): (&PairMachine, &f64)| pair.classes[usize::from(*decision <= 0.0)];
        let winners: Vec<u32> = self.machines.iter().zip(&decisions).map(won).collect();
        Ok(most_votes(&self.classes, &winners))
    }
}

/// The class that wins most pairs (at a tie the first in `classes`), given the winner of each pair.
pub fn most_votes(classes: &[u32], winners: &[u32]) -> u32 {
    let votes = |class: u32| winners.iter().filter(|&&winner| winner == class).count();
    // `max_by_key` returns the last of equal maxima.
    classes.iter().rev().copied().max_by_key(|&class| votes(class)).unwrap_or_default()
}

fn check_shapes(n_samples: usize, codes: &[u32], weights: &[f64]) -> Result<(), Error> {
    let shapes = [("classes of the samples", codes.len()), ("weights of the samples", weights.len())];
    for (what, found) in shapes {
        let may_be_empty = what.starts_with("weights") && found == 0;
        if found != n_samples && !may_be_empty {
            return Err(Error::ShapeMismatch { what, expected: n_samples, found });
        }
    }
    Ok(())
}
