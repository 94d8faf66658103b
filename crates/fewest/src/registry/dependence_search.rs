//! Greedy and convex searches over kernel dependence: the baselines of the HSIC Lasso paper.

use super::Method;

pub(super) static METHODS: &[Method] = &[];
