//! The tests of this crate, as one program: each program is linked by itself.

mod common;
#[path = "common/criteria.rs"]
mod criteria;
mod equal_frequency;
mod fcq;
mod in_parts;
mod information;
mod information_pitfalls;
mod selection_streams;
mod similarity;
mod similarity_pitfalls;
mod statistical_pitfalls;
mod streams;
