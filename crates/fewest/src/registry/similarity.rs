//! Scores of similarity: Laplacian score, SPEC, Fisher, trace ratio, the Relief family.

use super::Method;

pub(super) static METHODS: &[Method] = &[];
