//! Evaluation of feature selection.
