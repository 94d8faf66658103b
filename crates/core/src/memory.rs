//! Whether there is memory, asked for before a long computation.

use crate::Error;

/// More numbers than that, a TiB, are not asked for: some systems promise more memory than they have.
const MOST: usize = 1 << 37;

/// Room for as many numbers as the product of `sizes`: an empty vector of that capacity.
///
/// # Errors
/// [`Error::Numerical`] where there is no such memory: `what` it is for, how much `who` needs, and `instead`,
/// what to do.
///
/// ```
/// use fewest_core::room;
///
/// let room = |n: usize| room("a matrix", &[n, n], "the example", "use fewer samples");
/// assert!(room(10)?.capacity() >= 100);
/// let message = room(1 << 30).unwrap_err().to_string();
/// assert!(message.contains("the example needs 8589934592 GiB") && message.ends_with("use fewer samples"));
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub fn room(what: &'static str, sizes: &[usize], who: &str, instead: &str) -> Result<Vec<f64>, Error> {
    let mut values = Vec::new();
    let numbers = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
    let fits = numbers.is_some_and(|numbers| numbers <= MOST && values.try_reserve_exact(numbers).is_ok());
    if fits {
        return Ok(values);
    }
    let bytes = sizes.iter().fold(8.0, |product, size| product * *size as f64);
    let gib = bytes / f64::from(1 << 30);
    let hint = format!("{who} needs {gib:.0} GiB, more than there is: {instead}");
    Err(Error::Numerical { what, hint })
}
