//! Projected and proximal gradient descent on argmin
