//! Readers, writers, synthetic problems and preprocessing for feature selection
