//! Where ADWIN finds changes: a line of output for each series, which is a line of numbers from 0 to 1.
//!
//! `cargo run --release -p fewest-streams --example adwin -- 0.002 < series.txt`
//!
//! `experiments/peers/adwin.py` compares it with another program on the same series.

use std::error::Error;
use std::io::{self, BufRead};

use fewest_streams::Adwin;

fn main() -> Result<(), Box<dyn Error>> {
    let delta = std::env::args().nth(1).map_or(Ok(0.002), |delta| delta.parse())?;
    for line in io::stdin().lock().lines() {
        let mut adwin = Adwin::new(delta)?;
        let mut found = Vec::new();
        for (at, value) in line?.split_whitespace().enumerate() {
            if adwin.add(value.parse()?).is_some() {
                found.push(at.to_string());
            }
        }
        println!("{}", found.join(" "));
    }
    Ok(())
}
