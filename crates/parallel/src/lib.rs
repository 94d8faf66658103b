#![doc = include_str!("../README.md")]

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Tasks that keep all threads busy: longer loops have longer tasks.
const TASKS: usize = 64;

/// The most indices of a task.
const LONGEST_RUN: usize = 64;

/// How many tasks run at a time: how much memory they take together, and nothing of their results, may depend
/// on it.
pub fn n_threads() -> usize {
    rayon::current_num_threads()
}

/// `work(i)` for every `i < n`, in the order of the indices.
///
/// Each index is a separate task, for work that takes microseconds or more; for less see [`fill`] and
/// [`chunks`].
pub fn map<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let places = Places::new(n);
    each(n, &|i| places.put(i, work(i)));
    places.into_results()
}

/// [`map`] of work that may fail. All of it is done; the error of the lowest index is returned.
///
/// ```
/// let halves = |n| fewest_parallel::try_map(n, |i| if i == 3 || i == 5 { Err(i) } else { Ok(i / 2) });
/// assert_eq!(halves(3), Ok(vec![0, 0, 1]));
/// assert_eq!(halves(9), Err(3));
/// ```
///
/// # Errors
/// What `work` returns.
pub fn try_map<T: Send, E: Send>(n: usize, work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
    let mut values = Vec::with_capacity(n);
    for result in map(n, work) {
        values.push(result?);
    }
    Ok(values)
}

/// [`map`] with a scratch value that a few indices share, so that memory is not allocated each time.
///
/// What the scratch value holds when `work` begins is the default or what an index before left there: `work`
/// must not depend on it.
///
/// ```
/// let lengths = fewest_parallel::map_with(100, |text: &mut String, i| {
///     text.clear();
///     text.push_str(&i.to_string());
///     text.len()
/// });
/// assert_eq!(lengths.iter().sum::<usize>(), 190);
/// ```
pub fn map_with<S: Default, T: Send>(n: usize, work: impl Fn(&mut S, usize) -> T + Sync) -> Vec<T> {
    in_runs(n, (n / TASKS).clamp(1, LONGEST_RUN), work)
}

/// [`map_with`] in tasks of `run` indices.
fn in_runs<S: Default, T: Send>(n: usize, run: usize, work: impl Fn(&mut S, usize) -> T + Sync) -> Vec<T> {
    let places = Places::new(n);
    each(n.div_ceil(run), &|task| {
        let indices = task * run..n.min(task.saturating_add(1).saturating_mul(run));
        let mut scratch = S::default();
        let mut found = Vec::with_capacity(indices.len());
        for i in indices {
            found.push(work(&mut scratch, i));
        }
        places.put_run(task * run, found);
    });
    places.into_results()
}

/// A place for the result of each index, whichever thread brings it and when.
///
/// All are in one piece of memory: a vector for each task that outlives it would leave holes. This code is
/// compiled once for each type of result, and not for each loop.
struct Places<T>(Mutex<Vec<Option<T>>>);

impl<T> Places<T> {
    /// Places for the results of the indices below `n`.
    fn new(n: usize) -> Self {
        let mut places = Vec::with_capacity(n);
        for _ in 0..n {
            places.push(None);
        }
        Self(Mutex::new(places))
    }

    /// Takes the result of index `i`; of several the last.
    ///
    /// # Panics
    /// For an index that has no place.
    fn put(&self, i: usize, result: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(result);
    }

    /// Takes the results of `start` and the indices after it.
    fn put_run(&self, start: usize, results: Vec<T>) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, result) in places[start..].iter_mut().zip(results) {
            *place = Some(result);
        }
    }

    /// The results in the order of the indices, without places that are still empty.
    fn into_results(self) -> Vec<T> {
        let places = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut results = Vec::with_capacity(places.len());
        for place in places {
            let Some(result) = place else { continue };
            results.push(result);
        }
        results
    }
}

/// `work(at, chunk)` for every chunk of `size` items, the last perhaps shorter, in the order of the chunks.
///
/// A `size` of 0 counts as 1.
pub fn chunks<T: Send, R: Send>(
    items: &mut [T],
    size: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let mut chunks = Vec::with_capacity(items.len().div_ceil(size.max(1)));
    for chunk in items.chunks_mut(size.max(1)) {
        chunks.push(Mutex::new(chunk));
    }
    map(chunks.len(), |at| {
        // Taken out of the lock, which would otherwise be held while the work runs.
        let chunk = std::mem::take(&mut *chunks[at].lock().unwrap_or_else(PoisonError::into_inner));
        work(at, chunk)
    })
}

/// Calls `work` with all that `next` returns, one after the other, while `next` already makes what follows.
///
/// ```
/// let (mut numbers, mut sum) = (1..=10, 0);
/// fewest_parallel::ahead(|| Ok::<_, ()>(numbers.next()), |number| Ok(sum += number))?;
/// assert_eq!(sum, 55);
/// # Ok::<(), ()>(())
/// ```
///
/// # Errors
/// Those of both; of `work` where `next` failed about what follows.
pub fn ahead<T: Send, E: Send>(
    mut next: impl FnMut() -> Result<Option<T>, E> + Send,
    mut work: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut made = next()?;
    while let Some(now) = made {
        let (worked, following) = rayon::join(|| work(now), &mut next);
        worked?;
        made = following?;
    }
    Ok(())
}

/// `out[i] = work(i)` for every `i`, in tasks of `run` indices.
pub fn fill(out: &mut [f64], run: usize, work: impl Fn(usize) -> f64 + Sync) {
    let run = run.max(1);
    chunks(out, run, |at, out| {
        for (i, value) in out.iter_mut().enumerate() {
            *value = work(at * run + i);
        }
    });
}

/// `work(task)` for every `task < n`. What threads share is compiled here, once.
fn each(n: usize, work: &(dyn Fn(usize) + Sync)) {
    if n <= 1 {
        (0..n).for_each(work);
    } else {
        // Without a limit, the last thread would have a fourth of all tasks left while others have none.
        (0..n).into_par_iter().with_max_len(1).for_each(work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of what all loops return in a pool of `threads`.
    fn results(threads: usize) -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut all = map(1001, |i| (i as f64).sin());
            all.extend(map_with(1001, |terms: &mut Vec<f64>, i| {
                terms.clear();
                terms.extend((0..i).map(|k| 1.0 / (k + 1) as f64));
                terms.iter().sum::<f64>()
            }));
            let mut values = vec![1.0; 1001];
            all.extend(chunks(&mut values, 10, |at, chunk| {
                chunk.iter_mut().for_each(|value| *value += at as f64);
                chunk.iter().sum::<f64>()
            }));
            fill(&mut values[500..], 3, |i| (i as f64).sqrt());
            all.extend(values);
            all.into_iter().map(f64::to_bits).collect()
        })
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let one = results(1);
        assert_eq!(one.len(), 1001 + 1001 + 101 + 1001);
        assert!(one.iter().eq(&results(2)) && one.iter().eq(&results(7)));
    }

    #[test]
    fn indices_come_in_order_whatever_the_run() {
        for n in [0, 1, 2, 9, 64] {
            let expected: Vec<usize> = (0..n).collect();
            assert_eq!(map(n, |i| i), expected);
            for run in [1, 3, 64, usize::MAX / 2] {
                assert_eq!(in_runs(n, run, |(), i| i), expected);
            }
            for size in [0, 1, 3, 64, usize::MAX] {
                let mut items = expected.clone();
                let lengths = chunks(&mut items, size, |at, chunk| {
                    chunk.iter_mut().for_each(|item| *item += at);
                    chunk.len()
                });
                assert_eq!(lengths.iter().sum::<usize>(), n);
                assert!(items.iter().enumerate().all(|(i, item)| *item == i + i / size.max(1)));
            }
        }
    }

    #[test]
    fn the_lowest_error_wins() {
        let failing = |i: usize| if i % 10 == 9 { Err(i) } else { Ok(()) };
        assert_eq!(try_map(1000, failing), Err(9));
        assert_eq!(try_map(9, failing), Ok(vec![(); 9]));
    }

    #[test]
    #[should_panic(expected = "from the work")]
    fn a_panic_comes_through() {
        map(100, |i| assert!(i < 50, "from the work"));
    }

    #[test]
    fn loops_may_be_nested() {
        let sums = map(20, |i| map(20, |j| i * j).into_iter().sum::<usize>());
        assert!(sums.iter().enumerate().all(|(i, sum)| *sum == i * 190));
        let mut rows = vec![vec![0.0; 9]; 9];
        chunks(&mut rows, 1, |at, rows| rows.iter_mut().for_each(|row| fill(row, 2, |j| (at * j) as f64)));
        assert_eq!(rows[3][4], 12.0);
    }
}
