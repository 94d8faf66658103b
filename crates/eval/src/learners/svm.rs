//! The linear support vector machine.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, derive_seed, options};
use fewest_linalg::dot;
use fewest_machines::{Encoding, Points};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::{Learner, Model, Predictions};

options! {
    /// The linear support vector machine with squared hinge loss, one class against the rest, on standardised
    /// features: the minimiser of `½‖w‖² + C Σ_i max(0, 1 − y_i wᵀx_i)²`, where `x` has a last coordinate 1
    /// for the bias.
    ///
    /// Solved by dual coordinate descent (Hsieh et al. 2008) to a duality gap of `tolerance` times the
    /// objective at zero, `Cn`. The class with the largest `wᵀx` is predicted, the lowest code of several.
    /// `O(n d)` per pass.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct LinearSvm {
        /// C, the weight of the samples' losses against the margin.
        pub c: f64 = 1.0, Positive;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-4, ProperFraction;
        /// Passes over the samples allowed for each class.
        pub max_passes: usize = 2000, hidden;
    }
}

/// A fitted [`LinearSvm`].
pub struct LinearSvmModel {
    encoding: Encoding,
    /// The code of each machine's class.
    codes: Vec<u32>,
    /// The weights of each machine, the bias last; one machine for each class that occurs.
    pub weights: Vec<Vec<f64>>,
    /// The largest duality gap of any machine, relative to its objective at zero: the certificate.
    pub gap: f64,
    passes: usize,
}

/// Passes between two computations of the gap.
const PASSES_PER_CHECK: usize = 10;

/// `wᵀx`, the bias last.
fn decision(weights: &[f64], point: &[f64]) -> f64 {
    match weights.split_last() {
        Some((bias, weights)) => dot(weights, point) + bias,
        None => 0.0,
    }
}

struct Machine {
    weights: Vec<f64>,
    gap: f64,
    passes: usize,
}

impl LinearSvm {
    /// [`Learner::fit`], with the model's own type.
    ///
    /// # Errors
    /// For a target without classes, parameters out of range, values that are not finite.
    pub fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<LinearSvmModel, Error> {
        self.check()?;
        // Below the smallest normal number 1/c would be infinite.
        if !self.c.is_normal() {
            return Err(Error::parameter("c", self.c, "above 0 and not so small that 1/c is infinite"));
        }
        let target = data.classes(self.name())?;
        let codes = target.occurring();
        let encoding = Encoding::fit(data)?;
        let points = encoding.encode(data.x())?;
        let mut model = LinearSvmModel { encoding, codes, weights: Vec::new(), gap: 0.0, passes: 0 };
        let machines = match model.codes.len() {
            1 => 0,
            // Two classes share a machine: the second's weights are the first's, negated.
            2 => 1,
            n => n,
        };
        for (stream, &code) in model.codes.iter().take(machines).enumerate() {
            let signs: Vec<f64> =
                target.codes().iter().map(|&other| if other == code { 1.0 } else { -1.0 }).collect();
            let seed = derive_seed(context.seed, stream as u64);
            let machine = self.separate(&points, &signs, seed, context)?;
            model.gap = model.gap.max(machine.gap);
            model.passes = model.passes.max(machine.passes);
            model.weights.push(machine.weights);
        }
        match model.weights.first() {
            None => model.weights.push(vec![0.0; points.width + 1]),
            Some(first) if machines == 1 => {
                let negated = first.iter().map(|weight| -weight).collect();
                model.weights.push(negated);
            }
            Some(_) => {}
        }
        Ok(model)
    }

    fn separate(
        &self,
        points: &Points,
        signs: &[f64],
        seed: u64,
        context: &Context<'_>,
    ) -> Result<Machine, Error> {
        let (n, width) = (points.n_samples, points.width);
        let ridge = 0.5 / self.c;
        let curvature: Vec<f64> =
            (0..n).map(|i| dot(points.point(i), points.point(i)) + 1.0 + ridge).collect();
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..n).collect();
        let mut machine = Machine { weights: vec![0.0; width + 1], gap: 1.0, passes: 0 };
        let mut dual = vec![0.0; n];
        while machine.passes < self.max_passes {
            context.go_on("the support vector machine had been trained")?;
            order.shuffle(&mut generator);
            for &i in &order {
                let point = points.point(i);
                let gradient = signs[i] * decision(&machine.weights, point) - 1.0 + ridge * dual[i];
                let next = f64::max(dual[i] - gradient / curvature[i], 0.0);
                let change = signs[i] * (next - dual[i]);
                if change != 0.0 {
                    dual[i] = next;
                    for (weight, value) in machine.weights.iter_mut().zip(point) {
                        *weight += change * value;
                    }
                    machine.weights[width] += change;
                }
            }
            machine.passes += 1;
            if machine.passes.is_multiple_of(PASSES_PER_CHECK) || machine.passes == self.max_passes {
                machine.gap = self.gap(points, signs, &machine.weights, &dual);
                if machine.gap <= self.tolerance {
                    break;
                }
            }
        }
        Ok(machine)
    }

    /// Primal less dual objective, relative to the objective at zero.
    fn gap(&self, points: &Points, signs: &[f64], weights: &[f64], dual: &[f64]) -> f64 {
        let mut gap = dot(weights, weights);
        for (i, (sign, dual)) in signs.iter().zip(dual).enumerate() {
            let slack = (1.0 - sign * decision(weights, points.point(i))).max(0.0);
            gap += self.c * slack * slack + 0.25 / self.c * dual * dual - dual;
        }
        gap / (self.c * points.n_samples as f64)
    }
}

impl Model for LinearSvmModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let points = self.encoding.encode(x)?;
        let class = |i: usize| {
            let mut best = (0, f64::NEG_INFINITY);
            for (&code, weights) in self.codes.iter().zip(&self.weights) {
                let value = decision(weights, points.point(i));
                if value > best.1 {
                    best = (code, value);
                }
            }
            best.0
        };
        Ok(Predictions::Classes((0..points.n_samples).map(class).collect()))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let points = self.encoding.encode(x)?;
        let values =
            |weights: &Vec<f64>| (0..points.n_samples).map(|i| decision(weights, points.point(i))).collect();
        Ok(self.codes.iter().zip(&self.weights).map(|(&code, weights)| (code, values(weights))).collect())
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![("gap", self.gap), ("passes", self.passes as f64)]
    }
}
