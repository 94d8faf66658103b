//! The functions in queries.

mod refusals;
mod scores;
mod table;
