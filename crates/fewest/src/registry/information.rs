//! Criteria of information theory.

use super::Method;

pub(super) static METHODS: &[Method] = &[];
