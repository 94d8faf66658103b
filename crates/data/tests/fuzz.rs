//! Whatever the bytes are, a reader answers with a table or with one line.

use std::fs;

use crate::support::{Folder, format, gzip, sample};
use fewest_data::{Format, Missing, ReadOptions, TargetChoice};
use proptest::prelude::*;

/// Valid files of every format, to be damaged.
fn originals() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = [
        "plain.mat",
        "compressed.mat",
        "sparse.mat",
        "struct.mat",
        "cell.mat",
        "gaps.mat",
        "c_be_f8.npy",
        "fortran.npy",
        "version3.npy",
    ]
    .iter()
    .map(|name| fs::read(sample(name)).unwrap())
    .collect();
    let csv = "id,size,colour,y\n1,1.5,red,a\n2,NA,\"bl,ue\",b\n3,.25,,a\n";
    let svm = "+1 qid:3 1:0.5 4:-2 # first\n-1 2:1e3\n-1 1:1 2:nan 3:0\n";
    files.extend([csv.into(), svm.into(), gzip(csv), gzip(svm)]);
    files
}

fn check(bytes: &[u8], format: Option<Format>, target: &str) {
    let targets = match target {
        "auto" => TargetChoice::Auto,
        column => TargetChoice::Columns(vec![column.to_owned()]),
    };
    let options = ReadOptions { format, target: targets, memory: Some(1 << 26), ..ReadOptions::default() };
    match Folder::new().read("data", bytes, &options) {
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
        Ok(table) => {
            let summary = table.summary();
            assert_eq!(summary.features.len(), table.n_features());
            for missing in [Missing::Error, Missing::DropRows, Missing::Mean, Missing::Median] {
                match table.clone().complete(missing) {
                    Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
                    Ok(complete) => {
                        assert_eq!(complete.dataset.n_samples() + complete.dropped.len(), table.n_samples());
                    }
                }
            }
        }
    }
}

fn some_format() -> impl Strategy<Value = Option<Format>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(format("csv"))),
        1 => Just(Some(format("mat"))),
        1 => Just(Some(format("svmlight"))),
        1 => Just(Some(format("npy"))),
    ]
}

fn target() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("auto"), Just("last"), Just("0"), Just("y")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files(
        which in 0..originals().len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        format in some_format(),
        target in target(),
    ) {
        let mut bytes = originals().swap_remove(which);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()).max(1));
        }
        check(&bytes, format, target);
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), format in some_format(), target in target()) {
        check(&bytes, format, target);
    }

    #[test]
    fn random_text(text in "[0-9a,;.:\"\r\n\t #+-]{0,200}", format in some_format(), target in target()) {
        check(text.as_bytes(), format, target);
    }
}
