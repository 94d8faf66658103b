//! A datafit and a penalty together: the problem an argmin solver is given.

use crate::{Control, Datafit, Error, Penalty};

/// `minimise over w   f(w) + Ω(w)`, by reference: the problem that argmin passes to the solvers here.
///
/// The problem is not part of a solver, so that a solver contains numbers only and can be written to a
/// checkpoint and read back.
pub struct Composite<'a, F: ?Sized> {
    datafit: &'a F,
    penalty: &'a dyn Penalty,
    control: Control<'a>,
}

impl<F: ?Sized> Clone for Composite<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: ?Sized> Copy for Composite<'_, F> {}

impl<'a, F: Datafit + ?Sized> Composite<'a, F> {
    /// `datafit + penalty`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless both have the same number of coefficients.
    pub fn new(datafit: &'a F, penalty: &'a dyn Penalty) -> Result<Self, Error> {
        let (expected, found) = (datafit.n_coefficients(), penalty.n_coefficients());
        if found != expected {
            return Err(Error::ShapeMismatch { what: "coefficients of the penalty", expected, found });
        }
        Ok(Self { datafit, penalty, control: Control::default() })
    }

    /// With the limits of a run, for solvers whose single iterations are long: argmin asks between two of
    /// them only.
    #[must_use]
    pub fn within(self, control: &Control<'a>) -> Self {
        Self { control: *control, ..self }
    }

    /// The limits of the run; none unless [`within`](Self::within) gave them.
    pub fn control(&self) -> &Control<'a> {
        &self.control
    }

    /// `f`.
    pub fn datafit(&self) -> &'a F {
        self.datafit
    }

    /// `Ω`.
    pub fn penalty(&self) -> &'a dyn Penalty {
        self.penalty
    }

    /// A point a descent can start from: `start` (all zeros if it is empty) projected on the penalty's
    /// domain, which is its prox with step 0.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a coefficient that is not finite.
    pub fn feasible_start(&self, start: Vec<f64>) -> Result<Vec<f64>, Error> {
        let expected = self.datafit.n_coefficients();
        let mut w = if start.is_empty() { vec![0.0; expected] } else { start };
        if w.len() != expected {
            return Err(Error::ShapeMismatch { what: "starting coefficients", expected, found: w.len() });
        }
        if let Some(value) = w.iter().find(|value| !value.is_finite()) {
            return Err(Error::parameter("start", value, "finite"));
        }
        self.penalty.prox(&mut w, 0.0);
        Ok(w)
    }
}
