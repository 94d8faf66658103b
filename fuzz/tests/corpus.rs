//! The files of the corpus, and damaged ones, through the targets.
//!
//! `FEWEST_WRITE_PAGES=1 cargo test -p fewest-fuzz` writes the states of streams, whose form may change.

use std::fs;

use fewest_fuzz::{Damage, TARGETS, corpus, folder, state};

/// Streams of every kind, by their command.
const STREAMS: [(&str, &str); 9] = [
    ("alpha-investing", "alpha-investing"),
    ("fast-osfs", "fast-osfs test=g2 bins=2"),
    ("fsds", "fsds sketch_rows=4 block_rows=3"),
    ("gfssf", "gfssf bins=2"),
    ("grafting", "grafting lambda=0.1"),
    ("ofs", "ofs kept=2 margin=1"),
    ("ogfs", "ogfs groups=consecutive width=5"),
    ("osfs", "osfs"),
    ("saola", "saola test=g2 bins=3"),
];

/// States that no stream takes would be damaged for nothing.
#[test]
fn states_are_those_that_streams_save() {
    for (name, command) in STREAMS {
        let (path, saved) = (folder("state").join(name), state(command));
        if std::env::var_os("FEWEST_WRITE_PAGES").is_some() {
            fs::write(&path, &saved).unwrap();
        }
        assert!(fs::read(&path).unwrap() == saved, "{name}: write it anew, see above");
    }
}

#[test]
fn every_file_of_the_corpus_keeps_the_promises() {
    for target in &TARGETS {
        for (path, bytes) in corpus(target) {
            println!("{}", path.display());
            (target.run)(&bytes);
        }
    }
}

#[test]
fn damaged_files_keep_the_promises() {
    for (seed, target) in TARGETS.iter().enumerate() {
        let files: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, bytes)| bytes).collect();
        let mut damage = Damage::new(seed as u64);
        for round in 0..300 {
            let mut bytes = files[round % files.len()].clone();
            let other = damage.below(files.len());
            damage.change(&mut bytes, &files[other]);
            (target.run)(&bytes);
        }
    }
}
