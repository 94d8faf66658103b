//! What long computations ask: whether the time is over, and whether there is memory.

use fewest_core::{Context, Error, room};

/// Whether the time is over, for computations that ask often.
pub(crate) fn over<'c>(context: &'c Context<'_>) -> impl Fn() -> bool + Sync + 'c {
    || context.stopped().is_some()
}

/// Whether there is memory for as many numbers as the product of `sizes`, asked for before a method starts.
///
/// # Errors
/// [`Error::Numerical`] with how much `method` needs, and `instead`, what to do.
pub(crate) fn check_memory(method: &'static str, sizes: &[usize], instead: &str) -> Result<(), Error> {
    room("memory for the matrices of all samples", sizes, method, instead).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_told_before() {
        assert_eq!(check_memory("m", &[3, 100, 100], "use fewer samples"), Ok(()));
        for sizes in [[1 << 30, 1 << 30, 1], [usize::MAX, usize::MAX, 8]] {
            let message = check_memory("m", &sizes, "use fewer samples").map_err(|error| error.to_string());
            let Err(message) = message else { panic!("{sizes:?} fit") };
            assert!(message.contains("m needs") && message.ends_with("use fewer samples"), "{message}");
        }
    }
}
