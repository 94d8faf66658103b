//! Automation of the fewest workspace.
fn main() {}
