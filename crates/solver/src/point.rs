//! A list of numbers with the operations that argmin's L-BFGS and line search need.
//!
//! argmin-math implements them for `Vec<f64>` only with a feature that needs a second version of `rand`.

use argmin_math::{
    ArgminAdd, ArgminDot, ArgminL1Norm, ArgminL2Norm, ArgminMinMax, ArgminMul, ArgminScaledAdd, ArgminSignum,
    ArgminSub, ArgminZeroLike,
};

/// A point or a gradient, for argmin's L-BFGS and line searches.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point(pub Vec<f64>);

impl Point {
    fn with(&self, other: &Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| combine(*a, *b)).collect())
    }

    fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().map(|value| change(*value)).collect())
    }
}

impl ArgminDot<Point, f64> for Point {
    fn dot(&self, other: &Point) -> f64 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

impl ArgminAdd<Point, Point> for Point {
    fn add(&self, other: &Point) -> Point {
        self.with(other, |a, b| a + b)
    }
}

impl ArgminAdd<f64, Point> for Point {
    fn add(&self, other: &f64) -> Point {
        self.map(|value| value + other)
    }
}

impl ArgminSub<Point, Point> for Point {
    fn sub(&self, other: &Point) -> Point {
        self.with(other, |a, b| a - b)
    }
}

impl ArgminSub<f64, Point> for Point {
    fn sub(&self, other: &f64) -> Point {
        self.map(|value| value - other)
    }
}

impl ArgminMul<Point, Point> for Point {
    fn mul(&self, other: &Point) -> Point {
        self.with(other, |a, b| a * b)
    }
}

impl ArgminMul<f64, Point> for Point {
    fn mul(&self, other: &f64) -> Point {
        self.map(|value| value * other)
    }
}

impl ArgminScaledAdd<Point, f64, Point> for Point {
    fn scaled_add(&self, factor: &f64, other: &Point) -> Point {
        self.with(other, |a, b| a + factor * b)
    }
}

impl ArgminL1Norm<f64> for Point {
    fn l1_norm(&self) -> f64 {
        self.0.iter().map(|value| value.abs()).sum()
    }
}

impl ArgminL2Norm<f64> for Point {
    fn l2_norm(&self) -> f64 {
        self.dot(self).sqrt()
    }
}

impl ArgminSignum for Point {
    fn signum(self) -> Point {
        self.map(f64::signum)
    }
}

impl ArgminZeroLike for Point {
    fn zero_like(&self) -> Point {
        self.map(|_| 0.0)
    }
}

impl ArgminMinMax for Point {
    fn min(x: &Point, y: &Point) -> Point {
        x.with(y, f64::min)
    }

    fn max(x: &Point, y: &Point) -> Point {
        x.with(y, f64::max)
    }
}
