//! Squared losses with a flat part.

/// A loss that is 0, or the squared distance of a decision value from its active target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Loss {
    /// `max(0, 1 − y f)²` with `y = ±1` (Eq. 8).
    SquaredHinge,
    /// `max(0, |y − f| − ε)²`.
    SquaredInsensitive {
        /// `ε`.
        epsilon: f64,
    },
}

impl Loss {
    /// The target whose squared distance from `f` is the loss; none where the loss is zero.
    pub(crate) fn active_target(self, y: f64, f: f64) -> Option<f64> {
        match self {
            Self::SquaredHinge => (y * f < 1.0).then_some(y),
            Self::SquaredInsensitive { epsilon } => {
                let residual = y - f;
                (residual.abs() > epsilon).then(|| y - epsilon.copysign(residual))
            }
        }
    }

    /// Half of minus the derivative with respect to `f`.
    pub(crate) fn half_gradient(self, y: f64, f: f64) -> f64 {
        self.active_target(y, f).map_or(0.0, |towards| towards - f)
    }

    /// The sum of the losses.
    pub(crate) fn sum(self, y: &[f64], f: &[f64]) -> f64 {
        y.iter().zip(f).map(|(&y, &f)| self.half_gradient(y, f).powi(2)).sum()
    }

    /// The constant of smallest loss: of the squared hinge the mean of `y = ±1`, since every sample has a
    /// loss; else by bisection, as the sum of half_gradients decreases when the constant rises.
    pub(crate) fn best_constant(self, y: &[f64]) -> f64 {
        if self == Self::SquaredHinge {
            return y.iter().sum::<f64>() / y.len().max(1) as f64;
        }
        let mut low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let mut high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let force: f64 = y.iter().map(|&y| self.half_gradient(y, middle)).sum();
            if force == 0.0 || middle <= low || middle >= high {
                return middle;
            }
            if force > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_are_half_the_slopes() {
        let losses = [Loss::SquaredHinge, Loss::SquaredInsensitive { epsilon: 0.25 }];
        for loss in losses {
            for (y, f) in [(1.0, 0.3), (-1.0, 0.3), (1.0, 1.4), (-1.0, -0.9), (1.0, 1.1)] {
                let step = 1e-6;
                let slope = (loss.sum(&[y], &[f + step]) - loss.sum(&[y], &[f - step])) / (2.0 * step);
                assert!((slope + 2.0 * loss.half_gradient(y, f)).abs() < 1e-8, "{loss:?} {y} {f}");
            }
        }
    }

    #[test]
    fn the_best_constant_of_the_hinge_is_the_mean_label() {
        let y = [1.0, 1.0, 1.0, -1.0];
        assert!((Loss::SquaredHinge.best_constant(&y) - 0.5).abs() < 1e-15);
        assert_eq!(Loss::SquaredInsensitive { epsilon: 5.0 }.best_constant(&y), 0.0);
    }
}
