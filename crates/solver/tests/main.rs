//! The tests of this crate, as one program: each program is linked by itself.

mod common;
mod concave;
mod datafits;
mod dual_datafit;
mod inner_products;
mod losses;
mod overlapping;
mod penalties;
mod profiled;
mod working_set;
