//! What moves in the interior-point method.

use fewest_linalg::dot;

/// What moves of a machine.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) a: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) nu: Vec<f64>,
    pub(super) delta: Vec<f64>,
    pub(super) bias: f64,
}

/// All that moves.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) parts: Vec<Part>,
    pub(super) d: Vec<f64>,
    pub(super) s: Vec<f64>,
}

impl Point {
    pub(super) fn add(&mut self, step: &Point, length: f64) {
        let add = |x: &mut [f64], d: &[f64]| x.iter_mut().zip(d).for_each(|(x, d)| *x += length * d);
        for (part, step) in self.parts.iter_mut().zip(&step.parts) {
            add(&mut part.a, &step.a);
            add(&mut part.w, &step.w);
            add(&mut part.nu, &step.nu);
            add(&mut part.delta, &step.delta);
            part.bias += length * step.bias;
        }
        add(&mut self.d, &step.d);
        add(&mut self.s, &step.s);
    }

    /// How much of a step leaves all signs as they are.
    pub(super) fn reach(&self, step: &Point) -> f64 {
        let least = |x: &[f64], d: &[f64]| {
            x.iter()
                .zip(d)
                .fold(f64::INFINITY, |least, (x, d)| if *d < 0.0 { least.min(-x / d) } else { least })
        };
        let mut reach = least(&self.d, &step.d).min(least(&self.s, &step.s));
        for (part, step) in self.parts.iter().zip(&step.parts) {
            for (x, d) in
                [(&part.a, &step.a), (&part.w, &step.w), (&part.nu, &step.nu), (&part.delta, &step.delta)]
            {
                reach = reach.min(least(x, d));
            }
        }
        reach
    }

    /// The mean product of a multiplier with what it belongs to.
    pub(super) fn complementarity(&self) -> f64 {
        let (mut total, mut count) = (dot(&self.d, &self.s), self.d.len());
        for part in &self.parts {
            total += dot(&part.a, &part.nu) + dot(&part.w, &part.delta);
            count += 2 * part.a.len();
        }
        total / count as f64
    }
}
