//! The command `fewest`.
fn main() {}
