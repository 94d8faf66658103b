//! What kernel a feature can have.

use std::fmt;
use std::sync::Arc;

use fewest_core::Error;
use fewest_kernels::{Gaussian, Linear, Polynomial, ScalarKernel, Sigmoid};

/// A kernel of one feature; features are standardised first.
#[derive(Clone)]
#[non_exhaustive]
pub enum BaseKernel {
    /// `tanh(scale x x′ + offset)`, indefinite: the paper's choice.
    Sigmoid {
        /// `scale`, any finite number.
        scale: f64,
        /// `offset`, any finite number; the paper writes `−r`.
        offset: f64,
    },
    /// `exp(−(x − x′)²/(2σ²))`, positive semidefinite.
    Gaussian {
        /// `σ`, above 0.
        sigma: f64,
    },
    /// `(scale x x′ + offset)^degree`, indefinite for a negative offset.
    Polynomial {
        /// From 1 to 64.
        degree: u32,
        /// Any finite number.
        offset: f64,
        /// Above 0.
        scale: f64,
    },
    /// `x x′`.
    Linear,
    /// A kernel of your own.
    Custom(Arc<dyn ScalarKernel>),
}

impl Default for BaseKernel {
    fn default() -> Self {
        Self::Sigmoid { scale: 1.0, offset: 0.0 }
    }
}

impl fmt::Debug for BaseKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sigmoid { scale, offset } => write!(f, "tanh({scale} x x′ + {offset})"),
            Self::Gaussian { sigma } => write!(f, "exp(−(x − x′)²/(2·{sigma}²))"),
            Self::Polynomial { degree, offset, scale } => write!(f, "({scale} x x′ + {offset})^{degree}"),
            Self::Linear => f.write_str("x x′"),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}

impl BaseKernel {
    /// The kernel to evaluate.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a parameter out of range.
    pub(crate) fn build(&self) -> Result<Arc<dyn ScalarKernel>, Error> {
        Ok(match self {
            Self::Sigmoid { scale, offset } => Arc::new(Sigmoid::new(*scale, *offset)?),
            Self::Gaussian { sigma } => Arc::new(Gaussian::new(*sigma)?),
            Self::Polynomial { degree, offset, scale } => {
                Arc::new(Polynomial::new(*degree, *offset, *scale)?)
            }
            Self::Linear => Arc::new(Linear),
            Self::Custom(kernel) => Arc::clone(kernel),
        })
    }
}
