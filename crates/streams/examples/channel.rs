//! Samples come through a channel from another thread, and are selected from as they come.
//!
//! `cargo run --release -p fewest-streams --example channel`

use std::error::Error;
use std::sync::mpsc::sync_channel;
use std::thread;

use fewest_core::{Budget, Context, Dataset, DenseColumns, StreamSelector, Target, derive_seed};
use fewest_streams::Ofs;

/// Ten samples of 50 features, the class of which depends on two.
fn batch(number: usize) -> Result<Dataset, fewest_core::Error> {
    let value = |i: usize, j: u64| derive_seed(j, i as u64) as f64 / u64::MAX as f64 - 0.5;
    let rows = 10 * number..10 * (number + 1);
    let columns: Vec<Vec<f64>> = (0..50).map(|j| rows.clone().map(|i| value(i, j)).collect()).collect();
    let codes = rows.map(|i| u32::from(value(i, 4) > value(i, 9))).collect();
    // Every batch names both classes, also one without samples of them.
    let target = Target::classes(codes, vec!["no".to_owned(), "yes".to_owned()])?;
    Dataset::new(DenseColumns::from_columns(&columns)?, target)
}

fn main() -> Result<(), Box<dyn Error>> {
    // Where the selector is slower, the other thread waits: no more than four batches are in memory.
    let (sender, receiver) = sync_channel(4);
    let reader = thread::spawn(move || -> Result<(), fewest_core::Error> {
        for number in 0..500 {
            if sender.send(batch(number)?).is_err() {
                break;
            }
        }
        Ok(())
    });
    let mut stream = Ofs { kept: Some(5), margin: 1.0, ..Ofs::default() }.stream(0)?;
    for (number, arrived) in receiver.iter().enumerate() {
        stream.update(&arrived, &Context::default())?;
        if number % 100 == 99 {
            let best = stream.selection(Budget::Count(2))?.order;
            println!("{} samples: {best:?}, {} bytes held", 10 * (number + 1), stream.held().bytes);
        }
    }
    reader.join().map_err(|_| "the reader failed")??;
    let mut best = stream.selection(Budget::Count(2))?.order;
    best.sort_unstable();
    assert_eq!(best, [4, 9]);
    Ok(())
}
