//! What kernel a feature can have.

use std::fmt;
use std::sync::Arc;

use fewest_core::Error;
use fewest_core::method::{
    Choice, Field, FieldInfo, KernelWidth, Parameter, Parameters, Range, choice_parameters, set_choice,
};
use fewest_kernels::{Gaussian, Linear, Polynomial, ScalarKernel, Sigmoid, kernel_width};

/// A kernel of one feature; features are standardised first.
///
/// As a parameter: `sigmoid` with `scale` and `shift`, `gaussian` with `sigma`, `polynomial` with `scale`,
/// `degree` and `offset`, or `linear`.
#[derive(Clone)]
#[non_exhaustive]
pub enum BaseKernel {
    /// `tanh(a x x′ − r)`, indefinite.
    Sigmoid {
        /// `a`, above 0.
        scale: f64,
        /// `r`, any finite number.
        shift: f64,
    },
    /// `exp(−(x − x′)²/(2σ²))`, positive semidefinite.
    Gaussian {
        /// `σ`.
        sigma: KernelWidth,
    },
    /// `(a x x′ + c)^degree`, indefinite for a negative `c`.
    Polynomial {
        /// `a`, above 0.
        scale: f64,
        /// From 1 to 64.
        degree: u32,
        /// `c`, any finite number.
        offset: f64,
    },
    /// `x x′`.
    Linear,
    /// A kernel of your own, which no parameter can name.
    Custom(Arc<dyn ScalarKernel>),
}

impl Default for BaseKernel {
    fn default() -> Self {
        Self::Sigmoid { scale: 1.0, shift: 0.0 }
    }
}

impl fmt::Debug for BaseKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sigmoid { scale, shift } => write!(f, "tanh({scale} x x′ − {shift})"),
            Self::Gaussian { sigma: KernelWidth::Value(sigma) } => {
                write!(f, "exp(−(x − x′)²/(2·{sigma}²))")
            }
            Self::Gaussian { sigma } => write!(f, "exp(−(x − x′)²/(2σ²)), σ by {sigma:?}"),
            Self::Polynomial { degree, offset, scale } => write!(f, "({scale} x x′ + {offset})^{degree}"),
            Self::Linear => f.write_str("x x′"),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}

impl BaseKernel {
    /// The kernel where it is the same for every feature; `None` where its width follows from the values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a parameter out of range.
    pub(crate) fn shared(&self) -> Result<Option<Arc<dyn ScalarKernel>>, Error> {
        match self {
            Self::Gaussian { sigma: KernelWidth::Value(_) } => self.build(&[]).map(Some),
            Self::Gaussian { .. } => Ok(None),
            _ => self.build(&[]).map(Some),
        }
    }

    /// The kernel of a feature with the values `points`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a parameter out of range.
    pub(crate) fn build(&self, points: &[f64]) -> Result<Arc<dyn ScalarKernel>, Error> {
        Ok(match self {
            Self::Sigmoid { scale, shift } => Arc::new(Sigmoid::new(*scale, -shift)?),
            Self::Gaussian { sigma } => Arc::new(Gaussian::new(kernel_width(*sigma, points)?)?),
            Self::Polynomial { degree, offset, scale } => {
                Arc::new(Polynomial::new(*degree, *offset, *scale)?)
            }
            Self::Linear => Arc::new(Linear),
            Self::Custom(kernel) => Arc::clone(kernel),
        })
    }

    /// Its parameters, each with its place: by hand, since `choice!` knows no variant without a word.
    fn values(&mut self) -> Vec<(FieldInfo, &mut dyn Field)> {
        let info = |name, range, doc| {
            let mut info = FieldInfo::new(name, doc);
            info.range = Some(range);
            info
        };
        let by = || info("scale", Range::Positive, "Scale a of tanh(a x x′ − r) and of (a x x′ + c)^degree.");
        match self {
            Self::Sigmoid { scale, shift } => {
                let by_shift = info("shift", Range::Real, "Shift r of tanh(a x x′ − r).");
                vec![(by(), scale), (by_shift, shift)]
            }
            Self::Gaussian { sigma } => {
                let doc = "Width σ of the Gaussian kernel; median: the median distance of each feature.";
                vec![(FieldInfo::new("sigma", doc), sigma)]
            }
            Self::Polynomial { scale, degree, offset } => {
                let by_degree = info("degree", Range::Between(1, 64), "Degree of the polynomial kernel.");
                let by_offset = info("offset", Range::Real, "Offset c of (a x x′ + c)^degree.");
                vec![(by(), scale), (by_degree, degree), (by_offset, offset)]
            }
            Self::Linear | Self::Custom(_) => Vec::new(),
        }
    }
}

impl Choice for BaseKernel {
    const WORDS: &'static [&'static str] = &["sigmoid", "gaussian", "polynomial", "linear"];
    const GROUP_WORD: Option<&'static str> = None;

    fn alternatives() -> Vec<Self> {
        let polynomial = Self::Polynomial { scale: 1.0, degree: 2, offset: 1.0 };
        vec![Self::default(), Self::Gaussian { sigma: KernelWidth::Value(1.0) }, polynomial, Self::Linear]
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Sigmoid { .. } => "sigmoid",
            Self::Gaussian { .. } => "gaussian",
            Self::Polynomial { .. } => "polynomial",
            Self::Linear => "linear",
            Self::Custom(_) => "custom",
        }
    }

    fn own_parameters(&self) -> Vec<Parameter> {
        let mut own = self.clone();
        own.values().iter().flat_map(|(info, value)| value.field_parameters(info)).collect()
    }

    fn set_own(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.values().into_iter().try_for_each(|(info, value)| value.set_field(&info, parameters))
    }

    fn check_own(&self) -> Result<(), Error> {
        let mut own = self.clone();
        own.values().iter().try_for_each(|(info, value)| value.check_field(info))
    }
}

impl Field for BaseKernel {
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter> {
        choice_parameters(self, field)
    }

    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        set_choice(self, field, parameters)
    }

    fn check_field(&self, _field: &FieldInfo) -> Result<(), Error> {
        self.check_own()
    }
}

/// The kernels of every numeric feature, one or more, each with a weight of its own.
///
/// As a parameter: the word of a [`BaseKernel`], or `mixed`: sigmoid, Gaussian and polynomial.
#[derive(Debug, Clone)]
pub struct BaseKernels(pub Vec<BaseKernel>);

impl BaseKernels {
    /// Sigmoid, Gaussian and polynomial with their defaults.
    pub(crate) fn mixed() -> Self {
        Self(BaseKernel::alternatives().into_iter().filter(|kernel| kernel.word() != "linear").collect())
    }
}

impl Default for BaseKernels {
    fn default() -> Self {
        Self(vec![BaseKernel::default()])
    }
}

impl Choice for BaseKernels {
    const WORDS: &'static [&'static str] = &["sigmoid", "gaussian", "polynomial", "linear", "mixed"];
    const GROUP_WORD: Option<&'static str> = None;

    fn alternatives() -> Vec<Self> {
        let single = BaseKernel::alternatives().into_iter().map(|kernel| Self(vec![kernel]));
        single.chain([Self::mixed()]).collect()
    }

    fn word(&self) -> &'static str {
        match &self.0[..] {
            [kernel] => kernel.word(),
            _ => "mixed",
        }
    }

    fn own_parameters(&self) -> Vec<Parameter> {
        let mut list: Vec<Parameter> = Vec::new();
        for parameter in self.0.iter().flat_map(BaseKernel::own_parameters) {
            if list.iter().all(|known| known.name != parameter.name) {
                list.push(parameter);
            }
        }
        list
    }

    fn set_own(&mut self, parameters: &Parameters) -> Result<(), Error> {
        self.0.iter_mut().try_for_each(|kernel| kernel.set_own(parameters))
    }

    fn check_own(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(BaseKernel::check_own)
    }
}

impl Field for BaseKernels {
    fn field_parameters(&self, field: &FieldInfo) -> Vec<Parameter> {
        choice_parameters(self, field)
    }

    fn set_field(&mut self, field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        set_choice(self, field, parameters)
    }

    fn check_field(&self, _field: &FieldInfo) -> Result<(), Error> {
        self.check_own()
    }
}
