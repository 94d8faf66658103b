//! The tests of this crate, as one program: each program is linked by itself.

mod adaptive;
mod best_subset;
mod by_data;
mod common;
mod dantzig;
mod decided;
mod groups_by_residuals;
mod hinge;
mod in_passes;
mod linear_models;
mod linked;
mod linked_unsupervised;
mod losses;
mod nonconvex;
mod overlapping;
mod rows;
mod signs;
mod sources;
mod structured;
mod terms;
mod unreadable;
mod unsupervised;
mod views;
mod working_sets;
