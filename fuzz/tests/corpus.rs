//! The files of the corpus, and damaged ones, through the targets.

use fewest_fuzz::{Damage, TARGETS, corpus};

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
