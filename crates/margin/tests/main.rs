//! The tests of this crate, as one program: each program is linked by itself.

mod common;
mod lasso_weights;
mod machine_weights;
mod r2w2;
mod sparse_machines;
