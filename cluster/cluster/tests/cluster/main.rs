//! Clusters of processes on this machine.

mod bits;
mod losses;
mod processes;
mod refusals;
mod tables;
