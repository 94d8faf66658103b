//! Lines that arrive, and what is kept of them.

use std::io::{Cursor, Read};
use std::ops::Range;

use fewest::core::{Arrives, Budget, Context, Dataset, DenseColumns, Target};
use fewest::data::{ArrivingFeatures, ArrivingSamples, Error, Missing, ReadOptions};
use fewest::registry::{Parameters, Registry};

use crate::targets::{MEMORY, Slow, drawn, one_line, told};

/// Lines as samples and as features that arrive, with the usual options and with those that the first two
/// bytes draw: the same from a stream that comes byte by byte, with only finite numbers, or one line. Where
/// there is a fault, more may have come before it was found, or less.
pub(crate) fn streamed(bytes: &[u8]) {
    let usual = ReadOptions { memory: Some(MEMORY), ..ReadOptions::default() };
    both(bytes, &usual);
    if let Some(([first, second], rest)) = bytes.split_first_chunk() {
        // A table that arrives is not turned.
        both(rest, &ReadOptions { transpose: false, ..drawn((*first, *second), usual) });
    }
}

fn both(bytes: &[u8], options: &ReadOptions) {
    let whole = || Cursor::new(bytes.to_vec());
    let slow = || Slow(bytes.to_vec().into());
    same(samples(whole(), options), samples(slow(), options));
    same(features(whole(), options), features(slow(), options));
}

fn same((whole, fault): Told, (slow, slow_fault): Told) {
    assert_eq!(fault.is_some(), slow_fault.is_some(), "{fault:?} {slow_fault:?}");
    let both = whole.len().min(slow.len());
    assert!(fault.is_some() || whole.len() == slow.len());
    assert_eq!(whole[..both], slow[..both]);
}

/// What arrived, as text, and what ended it.
type Told = (Vec<String>, Option<String>);

fn samples(content: impl Read + 'static, options: &ReadOptions) -> Told {
    let mut all_told = Vec::new();
    let all = || -> Result<(), Error> {
        let mut samples = ArrivingSamples::open("input", content, options, Missing::DropRows, 4)?;
        while let Some(sample) = samples.next_sample()? {
            all_told.push(format!("{sample:?}"));
            if !sample.left_out {
                finite(&samples.schema().dataset(&[&sample])?);
            }
        }
        Ok(())
    };
    let error = all().err().map(|error| error.to_string());
    error.iter().for_each(|error| one_line(error));
    (all_told, error)
}

fn features(content: impl Read + 'static, options: &ReadOptions) -> Told {
    let mut all_told = Vec::new();
    let all = || -> Result<(), Error> {
        let mut features = ArrivingFeatures::open("input", content, options, Missing::Mean, None)?;
        while let Some(feature) = features.next_feature()? {
            all_told.push(format!("{feature:?}"));
            if !feature.left_out {
                finite(&features.dataset(&feature)?);
            }
        }
        Ok(())
    };
    let error = all().err().map(|error| error.to_string());
    error.iter().for_each(|error| one_line(error));
    (all_told, error)
}

fn finite(dataset: &Dataset) {
    let mut values = vec![0.0; dataset.n_samples()];
    for j in 0..dataset.n_features() {
        dataset.x().copy_column(j, &mut values).expect("it is in memory");
        assert!(values.iter().all(|value| value.is_finite()));
    }
}

/// `METHOD PARAMETERS`, a line feed, and the state of such a stream: taken, and then the one that it saves;
/// or refused with a message, and then nothing has changed.
pub(crate) fn saved(bytes: &[u8]) {
    let at = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (head, state) = (String::from_utf8_lossy(&bytes[..at]), bytes.get(at + 1..).unwrap_or_default());
    let mut words = head.split(' ');
    let Ok(method) = Registry::standard().find(words.next().unwrap_or_default()) else { return };
    let words: Vec<&str> = words.collect();
    let Ok(parameters) = Parameters::parse(method, &words) else { return };
    let Ok(mut stream) = method.stream(&parameters, Budget::Count(2), 5) else { return };
    let before = stream.save().expect("it has a state");
    match stream.restore(state) {
        Ok(()) => assert_eq!(stream.save().expect("it has a state"), state),
        Err(error) => {
            told(&error.to_string());
            assert_eq!(stream.save().expect("it has a state"), before, "nothing has changed");
        }
    }
}

/// An input of the target `state`: that of this stream after twelve samples or features.
///
/// # Panics
/// Where the command is none of a stream.
pub fn state(command: &str) -> Vec<u8> {
    let mut words = command.split(' ');
    let method = Registry::standard().find(words.next().unwrap_or_default()).expect("a method");
    let parameters = Parameters::parse(method, &words.collect::<Vec<_>>()).expect("its parameters");
    let mut stream = method.stream(&parameters, Budget::Count(2), 5).expect("a stream");
    let of_samples = method.arrives == Some(Arrives::Samples);
    let (n, d) = if of_samples { (12, 3) } else { (8, 12) };
    let classes: Vec<u32> = (0..n).map(|i| u32::from(i % 3 == 0)).collect();
    let value = |i: usize, j: usize| f64::from(classes[i]) + ((5 * i + 3 * j * j + i * j) % 7) as f64 / 7.0;
    let table = |rows: Range<usize>, columns: Range<usize>| {
        let names = columns.clone().map(|j| format!("x{j}")).collect();
        let columns: Vec<Vec<f64>> = columns.map(|j| rows.clone().map(|i| value(i, j)).collect()).collect();
        let target = Target::classes(classes[rows].to_vec(), vec!["no".to_owned(), "yes".to_owned()]);
        let x = DenseColumns::from_columns(&columns).expect("finite values");
        let table = Dataset::new(x, target.expect("two classes")).expect("as many");
        table.with_feature_names(names).expect("one each")
    };
    for at in 0..12 {
        let arrived = if of_samples { table(at..at + 1, 0..d) } else { table(0..n, at..at + 1) };
        stream.update(&arrived, &Context::seeded(5)).expect("it takes all");
    }
    [command.as_bytes(), b"\n", &stream.save().expect("it has a state")].concat()
}
