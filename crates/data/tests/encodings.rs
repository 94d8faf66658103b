//! Text that is not UTF-8, tables with a feature a line, and svmlight with indices from 0.

use crate::support::{Folder, assert_says, columns, gzip, message, read_csv};
use fewest_core::FeatureKind;
use fewest_data::{Header, Missing, ReadOptions, Reduction, TargetChoice, Unknown};

const TEXT: &str = "größe,farbe,y\n1.5,rot,a\n2,grün,b\n2.5,rot,b\n";

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

#[test]
fn other_encodings_give_the_same_table() {
    let options = ReadOptions::with_target("y");
    let expected = read_csv(TEXT, &options).unwrap();
    let marked = format!("\u{feff}{TEXT}");
    let named = |name: &str| ReadOptions { encoding: Some(name.to_owned()), ..options.clone() };
    for (bytes, options) in [
        (utf16(&marked, u16::to_le_bytes), options.clone()),
        (utf16(&marked, u16::to_be_bytes), options.clone()),
        (utf16(TEXT, u16::to_le_bytes), named("utf-16le")),
        (latin1(TEXT), named("latin1")),
        (latin1(TEXT), named("Windows-1252")),
        (TEXT.as_bytes().to_vec(), named("utf-8")),
        // What the file says of itself counts more.
        (utf16(&marked, u16::to_le_bytes), named("latin1")),
    ] {
        let table = read_csv(&bytes, &options).unwrap();
        assert_eq!(columns(table.features()), columns(expected.features()));
        assert_eq!(table.feature_name(0), "größe");
        let levels = FeatureKind::Categorical { levels: vec!["grün".to_owned(), "rot".to_owned()] };
        assert_eq!(*table.feature_kind(1), levels);
    }
}

/// Longer than the start from which a file is judged, and than the reader's buffers.
#[test]
fn long_files_are_decoded_to_their_end() {
    let mut text = String::from("\u{feff}é,y\n");
    (0..200_000).for_each(|i| text.push_str(&format!("{i},{}\n", i % 7)));
    let table = read_csv(utf16(&text, u16::to_le_bytes), &ReadOptions::default()).unwrap();
    assert_eq!((table.n_samples(), table.n_features()), (200_000, 2));
    assert_eq!(columns(table.features())[0][199_999], 199_999.0);
}

#[test]
fn what_is_not_in_the_encoding_is_told() {
    let says = |bytes: &[u8], name: Option<&str>| {
        let options = ReadOptions { encoding: name.map(str::to_owned), ..ReadOptions::default() };
        message(read_csv(bytes, &options))
    };
    assert_says(&says(&latin1(TEXT), None), &["UTF-8", "--encoding latin1"]);
    assert_says(&says(&latin1(TEXT), Some("utf-9")), &["`encoding`", "`utf-9`", "latin1"]);
    // Half a pair of UTF-16.
    let mut broken = utf16("\u{feff}a,b\n1,2\n", u16::to_le_bytes);
    broken.extend([0x00, 0xD8]);
    assert_says(&says(&broken, None), &["line 3", "not UTF-16LE", "--encoding"]);
    // In the middle of a file with the line ends of old systems, and compressed.
    let mut broken = b"a,b\r1,2\r3,".to_vec();
    broken.extend([0xFF, 0x0D]);
    broken.extend(b"5,6\r".repeat(100));
    assert_says(&says(&broken, Some("shift_jis")), &["line 3", "not Shift_JIS", "--encoding"]);
    let options = ReadOptions { encoding: Some("shift_jis".to_owned()), ..ReadOptions::default() };
    let told = message(Folder::new().read("t.csv.gz", gzip(&broken), &options));
    assert_says(&told, &["line 3", "not Shift_JIS"]);
    let told = message(Folder::new().read("t.svm", b"1 1:2\n1 1:3\n1 1:\xFF\n", &options));
    assert_says(&told, &["line 3", "not Shift_JIS"]);
    assert_says(&says(&utf16(TEXT, u16::to_le_bytes), None), &["zero byte", "--encoding utf-16le"]);
}

#[test]
fn lines_become_features() {
    let options = ReadOptions { transpose: true, ..ReadOptions::with_target("kind") };
    let text = "gene\tann\tbob\tcy\nBRCA1\t1.5\tNA\t3\nTP53\t4\t5\t6\nkind\till\twell\till\n";
    let table = Folder::new().read("t.tsv", text, &options).unwrap();
    assert_eq!((table.feature_name(0).as_str(), table.feature_name(1).as_str()), ("BRCA1", "TP53"));
    let complete = table.complete(Missing::Mean).unwrap();
    assert_eq!(complete.dataset.sample_ids().unwrap(), ["ann", "bob", "cy"]);
    assert_eq!(columns(complete.dataset.x()), [[1.5, 2.25, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(complete.dataset.target().describe(), "2 classes");
    // Names of features may be numbers, as those of Entrez are.
    let options = ReadOptions { transpose: true, ..ReadOptions::default() };
    let table = read_csv("gene,1,2\n5,0.1,0.2\n7,0.3,0.4\n", &options).unwrap();
    assert_eq!((table.n_samples(), table.feature_name(0)), (2, "5".to_owned()));
    let options = ReadOptions { transpose: true, header: Header::No, ..ReadOptions::default() };
    let table = read_csv("5,0.1,0.2\n7,0.3,0.4\n", &options).unwrap();
    assert_eq!((table.n_samples(), table.feature_name(1)), (2, "7".to_owned()));
    // Without names of samples, the first line is a feature like the others.
    let options = ReadOptions { transpose: true, header: Header::No, ..ReadOptions::default() };
    let table = read_csv("a,1,2\nb,3,4\n", &options).unwrap();
    assert_eq!((table.n_samples(), table.feature_name(0)), (2, "a".to_owned()));
    assert_eq!(columns(table.features()), [[1.0, 2.0], [3.0, 4.0]]);
    let options = ReadOptions { transpose: true, ..ReadOptions::default() };
    assert_says(&message(read_csv("g,s1,s2\na,1\n", &options)), &["line 2", "2 cells", "has 3"]);
    assert_says(&message(read_csv("g,s1,s2\na,1,x\nb,1,2\n", &options)), &["transposed table"]);
    let svm = Folder::new().read("t.svm", "1 1:2\n0 1:3\n", &options);
    assert_says(&message(svm), &["svmlight files cannot be transposed"]);
}

/// Files of genes often have a column that describes each.
#[test]
fn columns_that_are_no_samples_are_left_out_by_name() {
    const TEXT: &str =
        "gene,about,ann,bob,source\nG1,a kinase,1,2,x\nG2,a receptor,4,5,x\nkind,,ill,well,x\n";
    let read = |text: &str, target: TargetChoice, ignore: &[&str]| {
        let ignore = ignore.iter().map(|name| (*name).to_owned()).collect();
        read_csv(text, &ReadOptions { transpose: true, target, ignore, ..ReadOptions::default() })
    };
    let kind = || TargetChoice::Columns(vec!["kind".to_owned()]);
    let told = message(read(TEXT, kind(), &[]));
    assert_says(&told, &["`a kinase`", "leave out a column of the file that is no sample", "--ignore"]);
    for ignore in [&["about", "source"][..], &["source", "G2", "about"]] {
        let table = read(TEXT, kind(), ignore).unwrap();
        assert!(table.notes().iter().any(|note| note.contains("no samples: `about`, `source`")));
        let complete = table.complete(Missing::Error).unwrap();
        assert_eq!(complete.dataset.sample_ids().unwrap(), ["ann", "bob"]);
        assert_eq!(complete.dataset.n_features(), if ignore.contains(&"G2") { 1 } else { 2 });
        assert_eq!(complete.not_samples, ["about", "source"]);
    }
    // A name of a feature is that of the feature, and a number is one of it.
    let both =
        read("gene,G1,G2,1\nG1,1,2,3\nG2,4,5,6\nG3,7,8,9\n", TargetChoice::None, &["G1", "2"]).unwrap();
    assert_eq!((both.n_samples(), both.n_features()), (3, 1));
    assert_says(&message(read(TEXT, kind(), &["abuot"])), &["no column `abuot`"]);
    // Patterns are of features alone: no sample is left out that was not named.
    assert!(read(TEXT, kind(), &["a*"]).is_err());
    // Rows to apply the selection to: with these columns, or without.
    let complete = read(TEXT, kind(), &["about", "source"]).unwrap().complete(Missing::Error).unwrap();
    let reduction = Reduction::of(&complete, Missing::Error, &[1]).unwrap();
    for text in [TEXT, "gene,ann,bob\nG2,4,5\n"] {
        let known = reduction.clone();
        let options = ReadOptions { transpose: true, reduction: Some(known), ..ReadOptions::default() };
        let reduced = reduction.apply(read_csv(text, &options).unwrap(), Unknown::Error).unwrap();
        assert_eq!(columns(reduced.dataset.x()), [[4.0, 5.0]]);
    }
}

#[test]
fn genes_in_rows_are_suspected() {
    let wide = |rows: usize, name: fn(usize) -> String| {
        let mut text = String::from("gene,s1,s2,s3,s4,s5\n");
        (0..rows).for_each(|i| text.push_str(&format!("{},{i},2,3,4,5\n", name(i))));
        read_csv(text, &ReadOptions::default()).unwrap().looks_transposed()
    };
    assert!(wide(600, |i| format!("g{i}")) && !wide(50, |i| format!("g{i}")));
    assert!(!wide(600, |i| format!("g{}", i % 9)), "a name twice is a category");
    assert!(!wide(600, |i| format!("{i}")), "a number is a measurement");
}

#[test]
fn svmlight_indices_may_count_from_0() {
    let read = |text: &str, first_index: Option<usize>| {
        Folder::new().read("t.svm", text, &ReadOptions { first_index, ..ReadOptions::default() })
    };
    let values = |text: &str, first| columns(read(text, first).unwrap().features());
    let expected = vec![vec![0.0, 7.0], vec![2.0, 0.0]];
    assert_eq!(values("1 1:2\n0 0:7\n", None), expected);
    assert_eq!(values("1 2:2\n0 1:7\n", None), expected);
    // No index is 0, but the option says where they count from.
    assert_eq!(values("1 1:2\n0 1:7\n", Some(0)), [[0.0, 0.0], [2.0, 7.0]]);
    assert_eq!(values("1 1:2\n0 1:7\n", Some(1)), [[2.0, 7.0]]);
    assert!(read("1 1:2\n0 0:7\n", None).unwrap().notes()[0].contains("count from 0"));
    assert!(read("1 1:2\n0 2:7\n", None).unwrap().notes().is_empty());
    assert_says(&message(read("1 1:2\n0 0:7\n", Some(1))), &["line 2", "the index 0"]);
    assert_says(&message(read("1 1:2 1:3\n", None)), &["the index 1 comes after 1"]);
    let told = read("1 1:2\n", Some(2)).map(|_| ()).unwrap_err().to_string();
    assert_says(&told, &["`first_index` is 2", "0 or 1"]);
}
