//! Statistics of single features.

use super::Method;

pub(super) static METHODS: &[Method] = &[];
