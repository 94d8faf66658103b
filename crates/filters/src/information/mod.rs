//! Criteria of information theory over discretised features.
