#![no_main]

fewest_fuzz::guided!("stream");
