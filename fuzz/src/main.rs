//! `cargo run -p fewest-fuzz -- TARGET SECONDS [SEED]`: damages the files of a target until it has used so
//! many seconds of processor time, whatever else the machine does.

use std::panic;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fewest_fuzz::{Damage, TARGETS, corpus};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let found = words.first().and_then(|name| TARGETS.iter().find(|target| target.name == *name));
    let seconds = words.get(1).and_then(|word| word.parse().ok());
    let (Some(target), Some(seconds)) = (found, seconds) else {
        eprintln!("usage: fewest-fuzz TARGET SECONDS [SEED], TARGET one of {}", names.join(", "));
        return ExitCode::from(2);
    };
    let seed: u64 = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(0);
    // Inputs that are kept, so that damage adds up; those of the corpus always stay.
    let mut inputs: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, bytes)| bytes).collect();
    let n_corpus = inputs.len();
    let mut damage = Damage::new(seed);
    let start = Instant::now();
    let (mut count, mut bytes_read, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
    while work(start) < Duration::from_secs(seconds) {
        let mut bytes = inputs[damage.below(inputs.len())].clone();
        let other = damage.below(inputs.len());
        damage.change(&mut bytes, &inputs[other]);
        let begin = Instant::now();
        if panic::catch_unwind(|| (target.run)(&bytes)).is_err() {
            let path = std::env::temp_dir().join(format!("fewest-fuzz-{}-{seed}-{count}", target.name));
            let saved =
                std::fs::write(&path, &bytes).map_or("not saved".to_owned(), |()| path.display().to_string());
            println!("{}: input {count} of seed {seed} breaks a promise: {saved}", target.name);
            return ExitCode::FAILURE;
        }
        slowest = slowest.max(begin.elapsed());
        count += 1;
        bytes_read += bytes.len() as u64;
        if damage.below(20) == 0 {
            match inputs.len() {
                0..1000 => inputs.push(bytes),
                length => {
                    let at = n_corpus + damage.below(length - n_corpus);
                    inputs[at] = bytes;
                }
            }
        }
    }
    println!(
        "| {} | {seed} | {} | {} | {count} | {:.1} | {:.0} | 0 |",
        target.name,
        work(start).as_secs(),
        start.elapsed().as_secs(),
        bytes_read as f64 / 1e6,
        slowest.as_secs_f64() * 1e3
    );
    ExitCode::SUCCESS
}

/// Processor time of this process.
#[cfg(unix)]
fn work(start: Instant) -> Duration {
    use nix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or_else(|_| start.elapsed(), Duration::from)
}

/// The system does not tell processor time: the time since the start.
#[cfg(not(unix))]
fn work(start: Instant) -> Duration {
    start.elapsed()
}
