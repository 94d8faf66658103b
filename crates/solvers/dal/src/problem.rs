//! The problem that the solver minimises.

use fewest_solver::{BlockPenalty, DualDatafit, Error, Penalty};

/// The problem `minimise over w  ℓ(Aw) + Ω(w)`, as argmin's executor takes it.
pub struct PenalisedLoss<'a, D> {
    datafit: &'a D,
    penalty: &'a dyn BlockPenalty,
}

// Not derived: that would require the datafit to be `Copy`, although only a reference to it is copied.
impl<D> Clone for PenalisedLoss<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for PenalisedLoss<'_, D> {}

impl<'a, D: DualDatafit> PenalisedLoss<'a, D> {
    /// A datafit with a convex penalty on the same number of coefficients.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when the sizes differ, [`Error::Unsupported`] for a penalty
    /// that is not a convex sum over blocks.
    pub fn new(datafit: &'a D, penalty: &'a dyn Penalty) -> Result<Self, Error> {
        let (expected, found) = (datafit.n_coefficients(), penalty.n_coefficients());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "coefficients of the penalty", expected, found });
        }
        Ok(Self { datafit, penalty: penalty.convex_blocks("dal")? })
    }

    /// The datafit.
    pub(crate) fn datafit(&self) -> &'a D {
        self.datafit
    }

    /// The penalty.
    pub(crate) fn penalty(&self) -> &'a dyn BlockPenalty {
        self.penalty
    }
}
