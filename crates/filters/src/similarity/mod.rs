//! Scores by how well a feature keeps the similarity between samples.
