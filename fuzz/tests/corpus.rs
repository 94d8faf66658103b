//! The files of the corpus, and damaged ones, through the targets.
//!
//! `FEWEST_WRITE_PAGES=1 cargo test -p fewest-fuzz` writes the states of streams, whose form may change.

use std::fs;
use std::path::Path;

use fewest::registry::Registry;
use fewest_fuzz::{Damage, TARGETS, corpus, folder, run, state};

/// Parameters of streams whose states would else be of little.
const PARAMETERS: [(&str, &str); 8] = [
    ("fast-osfs", "test=g2 bins=2"),
    ("fsds", "sketch_rows=4 block_rows=3"),
    ("gfssf", "bins=2"),
    ("grafting", "lambda=0.1"),
    ("mim", "bins=2"),
    ("ofs", "kept=2 margin=1"),
    ("ogfs", "groups=consecutive width=5"),
    ("saola", "test=g2 bins=3"),
];

/// States that no stream takes would be damaged for nothing. Digits of logarithms are those of a system.
#[cfg(target_os = "linux")]
#[test]
fn states_are_those_that_streams_save() {
    let streams = Registry::standard().methods().iter().filter(|method| method.arrives.is_some());
    // usfs has no answer without links.
    let mut names: Vec<&str> = streams.map(|method| method.id).filter(|id| *id != "usfs").collect();
    for name in &names {
        let parameters = PARAMETERS.iter().find(|(id, _)| id == name);
        let command = parameters.map_or((*name).to_owned(), |(_, parameters)| format!("{name} {parameters}"));
        let (path, saved) = (folder("state").join(name), state(&command));
        if std::env::var_os("FEWEST_WRITE_PAGES").is_some() {
            fs::write(&path, &saved).unwrap();
        }
        assert!(fs::read(&path).unwrap_or_default() == saved, "{name}: write it anew, see above");
    }
    names.sort_unstable();
    let files = fs::read_dir(folder("state")).unwrap().map(|file| file.unwrap().file_name().into_string());
    let mut files: Vec<String> = files.map(Result::unwrap).collect();
    files.sort_unstable();
    assert_eq!(files, names);
}

#[test]
fn every_file_of_the_corpus_keeps_the_promises() {
    for target in &TARGETS {
        for (path, bytes) in corpus(target) {
            println!("{}", path.display());
            run(target.name, &bytes);
        }
    }
}

/// A target for `cargo fuzz`. Panics of decoders are caught: told, libFuzzer would take them for its own.
fn guided(target: &str) -> String {
    format!(
        "//! See `fewest_fuzz::TARGETS`.\n#![no_main]\n\nlibfuzzer_sys::fuzz_target!(\n    init: fewest_arrow::hush_decoders(),\n    \
         |bytes: &[u8]| fewest_fuzz::run(\"{target}\", bytes)\n);\n"
    )
}

/// They are compiled by `cargo fuzz` alone, which needs a compiler of C++.
#[test]
fn every_target_is_one_of_cargo_fuzz() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for target in &TARGETS {
        let path = format!("fuzz_targets/{}.rs", target.name);
        assert_eq!(fs::read_to_string(root.join(&path)).unwrap(), guided(target.name), "{path}");
        let listed = format!("[[bin]]\nname = \"{}\"\npath = \"{path}\"\n", target.name);
        assert!(manifest.contains(&listed), "{}", target.name);
    }
    assert_eq!(fs::read_dir(root.join("fuzz_targets")).unwrap().count(), TARGETS.len());
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
