//! See `fewest_fuzz::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fewest_arrow::hush_decoders(),
    |bytes: &[u8]| fewest_fuzz::run("npy", bytes)
);
