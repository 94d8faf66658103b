//! Lines that arrive: read as tables read them, with the number of the line that cannot be used.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fewest_core::Dataset;
use fewest_data::{
    ArrivedSample, ArrivingFeatures, ArrivingSamples, Error, Growing, Journal, Missing, Piped, ReadOptions,
    Table, TargetChoice, digest,
};

const TEXT: &str = "id;age;kind;\"a \"\"b\"\"\";y\nr1;1,5;red;3;no\n\nr2;-2;blue;\"4\n\";yes\nr3;7;red;5;no\n\
                    r4;1e3;blue;6;yes\n";

fn options() -> ReadOptions {
    ReadOptions {
        target: TargetChoice::Columns(vec!["y".to_owned()]),
        id: Some("id".to_owned()),
        ..ReadOptions::default()
    }
}

fn arrived(
    text: &str,
    options: &ReadOptions,
    n_first: usize,
) -> (Vec<ArrivedSample>, Option<Error>, ArrivingSamples) {
    let content = text.as_bytes().to_vec();
    let mut lines =
        ArrivingSamples::open("t.csv", std::io::Cursor::new(content), options, Missing::Error, n_first)
            .unwrap();
    let mut samples = Vec::new();
    loop {
        match lines.next_sample() {
            Ok(Some(sample)) => samples.push(sample),
            Ok(None) => return (samples, None, lines),
            Err(error) => return (samples, Some(error), lines),
        }
    }
}

fn dataset(text: &str, options: &ReadOptions, n_first: usize) -> Dataset {
    let (samples, error, lines) = arrived(text, options, n_first);
    assert!(error.is_none(), "{error:?}");
    lines.schema().dataset(&samples.iter().collect::<Vec<_>>()).unwrap()
}

/// A byte at a time.
struct Slow(std::vec::IntoIter<u8>);

impl Read for Slow {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        Ok(out.iter_mut().zip(self.0.by_ref().take(1)).map(|(place, byte)| *place = byte).count())
    }
}

/// What a line is does not depend on how many bytes come at once, and is what it is in a table.
#[test]
fn a_slow_stream_has_the_same_samples() {
    let utf16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let options = ReadOptions::with_target("y");
    for text in [
        "\n\na;b;y\n1;2;no\n3;4;yes\n",
        "\"a,\nc\";\"b,\";y\n1;2;no\n3;4;yes\n",
        "\"a \"\"b\"\",\nc\";d;y\n1;2;no\n3;4;yes\n",
        "5\" pipe;č;y\n1;2;no\n3;4;yes\n",
    ] {
        for bytes in [text.as_bytes().to_vec(), utf16(text)] {
            let table = Table::read_bytes("t", bytes.clone().into(), &options).unwrap();
            let table = digest(&table.complete(Missing::Error).unwrap().dataset).unwrap();
            for content in [Box::new(std::io::Cursor::new(bytes.clone())) as Box<dyn Read>, slow(bytes)] {
                let mut lines = ArrivingSamples::open("t", content, &options, Missing::Error, 2).unwrap();
                let mut samples = Vec::new();
                while let Some(sample) = lines.next_sample().unwrap() {
                    samples.push(sample);
                }
                let samples = lines.schema().dataset(&samples.iter().collect::<Vec<_>>()).unwrap();
                assert_eq!(digest(&samples).unwrap(), table, "{text:?}");
            }
        }
    }
}

fn slow(bytes: Vec<u8>) -> Box<dyn Read> {
    Box::new(Slow(bytes.into_iter()))
}

/// A zero byte is no text, wherever it comes, and a file of another kind is none.
#[test]
fn what_is_no_text_is_refused_in_a_stream() {
    let options = ReadOptions::with_target("y");
    let told = |bytes: &[u8], is_slow: bool| {
        let whole = Box::new(std::io::Cursor::new(bytes.to_vec()));
        let content = if is_slow { slow(bytes.to_vec()) } else { whole };
        let lines = ArrivingSamples::open("t", content, &options, Missing::Error, 2);
        let end = lines.and_then(|mut lines| {
            while lines.next_sample()?.is_some() {}
            Ok(())
        });
        end.unwrap_err().to_string()
    };
    for is_slow in [false, true] {
        let zero = told(b"a,b,y\n1,2,no\n3,4,yes\n5,\0,no\n", is_slow);
        assert!(zero.starts_with("t: line 4: a zero byte, which is no text"), "{zero}");
        let matlab = told(b"\x89HDF\r\n\x1a\n and more", is_slow);
        assert!(matlab.contains("a stream of a mat file"), "{matlab}");
    }
}

/// A header of more than a mebibyte is looked at up to the same place.
#[test]
fn a_long_header_has_the_same_samples() {
    let names: String = (0..150_000).map(|j| format!("\"n,{j}\";")).collect();
    let text = format!("{names}y\n{}no\n{}yes\n", "1;".repeat(150_000), "2;".repeat(150_000));
    let options = ReadOptions::with_target("y");
    let features = |content: Box<dyn Read>| {
        ArrivingSamples::open("t", content, &options, Missing::Error, 2).unwrap().schema().columns().len()
    };
    assert_eq!(features(Box::new(std::io::Cursor::new(text.clone().into_bytes()))), 150_000);
    assert_eq!(features(slow(text.into_bytes())), 150_000);
}

/// Samples that arrive are those of the table, whatever lines end in, and however few lines decide.
#[test]
fn samples_that_arrive_are_those_of_the_table() {
    for text in [
        TEXT.to_owned(),
        TEXT.replace('\n', "\r\n"),
        TEXT.trim_end().to_owned(),
        format!("\u{feff}{TEXT}"),
        format!("sep=;\r\n{TEXT}"),
    ] {
        let table = Table::read_bytes("t.csv", text.as_bytes().into(), &options()).unwrap();
        let plain = |data: Dataset| digest(&data).unwrap();
        let expected = plain(table.complete(Missing::Error).unwrap().dataset);
        for n_first in [2, 3, 4, 1000] {
            assert_eq!(plain(dataset(&text, &options(), n_first)), expected, "{n_first} {text:?}");
        }
    }
    let (samples, _, lines) = arrived(TEXT, &options(), 2);
    assert_eq!(samples.iter().map(|sample| sample.line).collect::<Vec<_>>(), [2, 4, 6, 7]);
    assert_eq!(lines.schema().feature_names(), ["age", "kind", "a \"b\""]);
    assert_eq!((lines.schema().columns(), lines.schema().n_first()), (vec![1, 2, 3], 2));
    // Numbers as categories and as classes, however they are written.
    let text = "c,y\n1,0\n2,1\n1.0,0.0\n02,1e0\n";
    let by_number = ReadOptions { categorical: vec!["c".to_owned()], ..ReadOptions::with_target("y") };
    let (samples, error, lines) = arrived(text, &by_number, 3);
    assert!(error.is_none() && lines.schema().classes() == ["0", "1"], "{error:?}");
    let data = lines.schema().dataset(&samples.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(data.x().column(0, &mut Vec::new()).unwrap().to_vec(4), [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn lines_that_came_before_are_passed_over_and_have_to_be_the_same() {
    let (samples, _, lines) = arrived(TEXT, &options(), 3);
    let schema = lines.schema().clone();
    let opened = |text: &str| {
        let content = std::io::Cursor::new(text.as_bytes().to_vec());
        ArrivingSamples::with_schema("t.csv", content, &options(), Missing::Error, schema.clone())
    };
    for n in 1..=4_u64 {
        let mut again = opened(TEXT).unwrap();
        assert_eq!(again.skip(n).unwrap(), samples[n as usize - 1].hash);
        assert_eq!(again.next_sample().unwrap().as_ref(), samples.get(n as usize));
    }
    for (changed, with) in [("1,5", "1,6"), ("r1", "r9"), ("red;3", "red3;"), ("age;", "aga;")] {
        let found = opened(&TEXT.replacen(changed, with, 1)).and_then(|mut lines| lines.skip(2));
        assert_ne!(found.ok(), Some(samples[1].hash), "{changed}");
    }
    let told = opened(TEXT).unwrap().skip(5).unwrap_err().to_string();
    assert!(told.contains("5 lines of it were read before, but it has 4"), "{told}");
}

/// What stands before the first fault is read, wherever it is.
#[test]
fn a_fault_ends_the_samples_behind_those_before_it() {
    for n_first in [2, 1000] {
        for (with, told) in [
            ("r3;7;red\n", "line 6: 3 cells, but line 1 has 5"),
            ("r3;seven;red;5;no\n", "line 6, column `age` (1, counted from 0): `seven` is text"),
            ("r3;-inf;red;5;no\n", "line 6, column `age` (1, counted from 0): `-inf` is infinite"),
            ("r3;NA;red;5;no\n", "line 6, column `age` (1, counted from 0): the value is missing"),
            ("r3;7;12;5;no\n", "line 6, column `kind` (2, counted from 0): "),
            ("r3;7;\"red;5;no\n", "line 6: a double quote is opened here and never closed"),
        ] {
            let (samples, error, _) = arrived(&TEXT.replace("r3;7;red;5;no\n", with), &options(), n_first);
            let error = error.unwrap().to_string();
            assert!(error.contains(told), "{n_first}: {error}");
            assert_eq!(samples.len(), 2, "{n_first}: {error}");
        }
    }
    for missing in [Missing::Mean, Missing::Median] {
        let found = ArrivingSamples::open("t.csv", TEXT.as_bytes(), &options(), missing, 9);
        assert!(matches!(
            found,
            Err(Error::Core(fewest_core::Error::InvalidParameter { name: "missing", .. }))
        ));
    }
}

#[test]
fn features_that_arrive_are_those_of_the_table() {
    let text = "id,s1,s2,s3,s4\ny,0.5,1.5,-1,2\na,1,,3,4\nkind,red,blue,red,red\nc,1,2,1,1\nskip,1,1,1,1\n";
    let options = ReadOptions {
        categorical: vec!["c".to_owned()],
        ignore: vec!["sk*".to_owned()],
        ..ReadOptions::with_target("y")
    };
    let table = Table::read_bytes(
        "t.csv",
        text.as_bytes().into(),
        &ReadOptions { transpose: true, ..options.clone() },
    );
    let table = table.unwrap().complete(Missing::Mean).unwrap().dataset;
    let open = |missing| ArrivingFeatures::open("t.csv", text.as_bytes(), &options, missing, None);
    let mut features = open(Missing::Mean).unwrap();
    for j in 0..3 {
        let feature = features.next_feature().unwrap().unwrap();
        let (own, its) = (features.dataset(&feature).unwrap(), table.feature_subset(&[j]).unwrap());
        assert_eq!((feature.name.clone(), feature.left_out), (table.feature_name(j), false));
        assert_eq!(own.feature_kind(0), its.feature_kind(0), "{j}");
        assert_eq!(digest(&own).unwrap(), digest(&its).unwrap(), "{j}");
    }
    assert!(features.next_feature().unwrap().unwrap().left_out);
    assert_eq!(features.next_feature().unwrap(), None);
    let told = open(Missing::Error).unwrap().next_feature().unwrap_err().to_string();
    assert!(told.contains("line 3, column `s2` (2, counted from 0): the value is missing"), "{told}");
    assert!(open(Missing::DropRows).is_err());
    // A target of its own: other samples are refused.
    let target = |text: &str| {
        let content = std::io::Cursor::new(text.as_bytes().to_vec());
        ArrivingFeatures::read_target("y.csv", content, &ReadOptions::default())
    };
    let with = |given: &str| {
        let own = ReadOptions::default();
        ArrivingFeatures::open("t.csv", text.as_bytes(), &own, Missing::Error, Some(target(given)?))
    };
    assert_eq!(with("y\n1\n2\n1\n2\n").unwrap().target_name(), "y");
    assert_eq!(with("1\n2\n1\n2\n").unwrap().target().n_samples(), Some(4));
    for (wrong, told) in [
        ("y\n1\n2\n1\n", "there are 4 samples, but the target has 3"),
        ("id,y\ns1,1\ns2,2\ns4,1\ns3,2\n", "the target has sample `s4` where the features have `s3`"),
        ("y\n1\n\n\"\"\n2\n1\n", "the target is missing"),
    ] {
        let error = with(wrong).err().unwrap().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn pipes_and_files_that_grow_end_when_they_are_told_to() {
    let end = Arc::new(AtomicBool::new(false));
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut piped = Piped::new(reader, Arc::clone(&end)).unwrap();
    writer.write_all(b"abc").unwrap();
    let mut text = [0; 3];
    piped.read_exact(&mut text).unwrap();
    assert_eq!(&text, b"abc");
    // Nothing more comes, and the pipe stays open.
    end.store(true, Ordering::Relaxed);
    assert_eq!(piped.read(&mut text).unwrap(), 0);
    let mut growing = Growing::new(b"xy".as_slice(), end);
    let mut all = String::new();
    growing.read_to_string(&mut all).unwrap();
    assert_eq!(all, "xy");
}

/// The same line for ever.
struct Endless;

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let line = b"s,no\n";
        let count = out.len() / line.len() * line.len();
        out[..count].chunks_mut(line.len()).for_each(|place| place.copy_from_slice(line));
        Ok(count)
    }
}

/// What is kept of content that does not end is bounded: the lines that decide, and a target.
#[test]
fn no_more_lines_are_kept_than_there_is_memory() {
    let options = ReadOptions { memory: Some(4 << 20), ..ReadOptions::default() };
    let told = "take more than half of the memory: let fewer lines decide";
    let samples = ArrivingSamples::open("t.csv", Endless, &options, Missing::Error, usize::MAX);
    assert!(samples.err().is_some_and(|error| error.to_string().contains(told)));
    let target = ArrivingFeatures::read_target("t.csv", Endless, &options);
    assert!(target.is_err_and(|error| error.to_string().contains(told)));
}

#[test]
fn a_journal_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(folder.path().join("state.json"));
    for object in [r#"{"a":1}"#, r#"{"a":2}"#] {
        journal.replace(object).unwrap();
        assert_eq!(journal.read().unwrap(), [object]);
    }
    assert!(journal.replace("[1]").is_err());
    assert_eq!(journal.read().unwrap(), [r#"{"a":2}"#]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
