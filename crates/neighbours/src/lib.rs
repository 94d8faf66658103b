//! Exact nearest neighbours and the graphs built on them.
