//! Criterion benchmarks, a module a crate: `cargo bench --package fewest-benches`, or `cargo xtask bench`.
//!
//! For one's own changes, before and after, on a quiet machine. Comparisons with other packages are
//! `cargo xtask bench --peers`.

mod dependence;
mod evaluation;
mod filters;
mod kernels;
mod linear;
mod machines;
mod solvers;
mod streams;

criterion::criterion_group!(
    all,
    kernels::benches,
    solvers::benches,
    filters::benches,
    dependence::benches,
    linear::benches,
    machines::benches,
    streams::benches,
    evaluation::benches
);
criterion::criterion_main!(all);
