//! Scores by classical statistics of single features.
