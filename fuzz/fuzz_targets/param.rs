#![no_main]

fewest_fuzz::guided!("param");
