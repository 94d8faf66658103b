//! Exact homotopy path of the non-negative lasso on argmin
