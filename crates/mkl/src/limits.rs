//! What long computations ask: whether the time is over, and whether there is memory.

use fewest_core::{Context, Error};

/// More numbers than that, a TiB, are not asked for: some systems promise more memory than they have.
const MOST: usize = 1 << 37;

/// Whether the time is over, for computations that ask often.
pub(crate) fn over<'c>(context: &'c Context<'_>) -> impl Fn() -> bool + Sync + 'c {
    || context.stopped().is_some()
}

/// Ends what was stopped.
///
/// # Errors
/// [`Error::Stopped`] where the time is over.
pub(crate) fn check_time(context: &Context<'_>, before: &'static str) -> Result<(), Error> {
    if context.stopped().is_some() { Err(Error::Stopped { before }) } else { Ok(()) }
}

/// Whether there is memory for as many numbers as the product of `sizes`, asked for before a method starts.
///
/// # Errors
/// [`Error::Numerical`] with how much `method` needs, and `instead`, what to do.
pub(crate) fn check_memory(method: &'static str, sizes: &[usize], instead: &str) -> Result<(), Error> {
    let numbers = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    let fits = numbers
        .is_some_and(|numbers| numbers <= MOST && Vec::<f64>::new().try_reserve_exact(numbers).is_ok());
    if fits {
        return Ok(());
    }
    let bytes = sizes.iter().fold(8.0, |product, size| product * *size as f64);
    let hint = format!("{method} needs {:.0} GiB, more than there is: {instead}", bytes / f64::from(1 << 30));
    Err(Error::Numerical { what: "memory for the matrices of all samples", hint })
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
