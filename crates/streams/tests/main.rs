//! The tests of this crate, as one program: each program is linked by itself.

mod conformance;
mod forgetting;
mod golden;
mod groups;
mod in_passes;
mod state;
mod streams;
