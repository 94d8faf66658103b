//! The tests of this crate, as one program: each program is linked by itself.

mod baselines;
#[path = "../../linear/tests/common/mod.rs"]
mod common;
mod hsfs;
mod hsic_lasso;
mod hsic_stream;
mod in_passes;
mod mutual_information;
mod stops;
