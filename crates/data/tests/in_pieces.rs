//! Rows that are read in passes are those of the table that is read at once.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use fewest_core::{Context, Dataset, SampleStream, Target};
use fewest_data::{
    Complete, Error, Formats, Header, Missing, Passes, ReadOptions, RowCounts, Rows, Table, TargetChoice,
    Task, csv_text,
};
use flate2::{Compression, write::GzEncoder};

/// Enough for pieces of 4096 rows of the tables here, or a little more.
const MEMORY: u64 = 72 << 20;

/// All rows of a pass below each other.
fn all(rows: &mut Rows) -> Result<Dataset, Error> {
    let mut parts = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        parts.push(batch);
    }
    // The end stays the end.
    assert!(rows.next_batch()?.is_none());
    Ok(Dataset::stacked(&parts)?)
}

fn same(found: &Dataset, expected: &Dataset, path: &Path) {
    assert_eq!((found.n_samples(), found.n_features()), (expected.n_samples(), expected.n_features()));
    for j in 0..expected.n_features() {
        let values = |data: &Dataset| data.x().column(j, &mut Vec::new()).unwrap().to_vec(data.n_samples());
        assert_eq!(values(found), values(expected), "{} {j}", path.display());
        assert_eq!(found.feature_kind(j), expected.feature_kind(j), "{} {j}", path.display());
        assert_eq!(found.feature_name(j), expected.feature_name(j));
    }
    match (found.target(), expected.target()) {
        (Target::Class(found), Target::Class(expected)) => {
            assert_eq!((found.names(), found.codes()), (expected.names(), expected.codes()));
        }
        (Target::Real(found), Target::Real(expected)) => assert_eq!(found.output(0), expected.output(0)),
        (found, expected) => assert_eq!(found.describe(), expected.describe()),
    }
}

fn check(path: &Path, options: &ReadOptions, missing: Missing) -> Result<Rows, Error> {
    let expected = Table::read(path, options)?.complete(missing)?;
    let passes = Passes::open(path, options)?.expect("a format that is read in pieces");
    let mut rows = passes.rows(missing, MEMORY)?;
    for pass in 0..3 {
        same(&all(&mut rows)?, &expected.dataset, path);
        assert!(rows.rewind()?, "{pass}");
    }
    assert_eq!(rows.notes(), Table::read(path, options)?.notes(), "{}", path.display());
    let first = rows.first().expect("rows");
    assert_eq!((&first.target_names, &first.columns), (&expected.target_names, &expected.columns));
    assert_eq!(rows.n_used(), Some((expected.dataset.n_samples(), expected.dropped.len())));
    check_parts(path, options, &expected.dataset, rows.known()?)?;
    // Which changes nothing for who goes on.
    rows.rewind()?;
    same(&all(&mut rows)?, &expected.dataset, path);
    check_reduced(&mut rows, &expected)?;
    Ok(rows)
}

/// The reduced table of the pieces has the bytes of that of the table, and passes go on after it.
fn check_reduced(rows: &mut Rows, expected: &Complete) -> Result<(), Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reduced.csv");
    let format = Formats::standard().to_write(&path)?;
    let data = &expected.dataset;
    let last = data.n_features() - 1;
    for features in [&[last][..], &[last, 0][..usize::from(last > 0) + 1]] {
        rows.write(format, &path, features, &Context::default())?;
        assert!(fs::read(&path).unwrap() == csv_text(data, features, &expected.target_names)?);
    }
    let interrupt = AtomicBool::new(true);
    let stopped = Context { interrupt: Some(&interrupt), ..Context::default() };
    let written = fs::read(&path).unwrap();
    assert!(rows.write(format, &path, &[last], &stopped).is_err());
    assert!(rows.write(format, &path, &[last + 1], &Context::default()).is_err());
    assert!(fs::read(&path).unwrap() == written && fs::read_dir(folder.path()).unwrap().count() == 1);
    let all: Vec<usize> = (0..=last).collect();
    if !rows.take_features(&all)? {
        rows.rewind()?;
    }
    assert!(rows.next_batch()?.is_some_and(|rows| rows.n_features() == last + 1));
    Ok(())
}

/// The parts of the rows that others read are the table.
fn check_parts(
    path: &Path,
    options: &ReadOptions,
    expected: &Dataset,
    (counts, known): (RowCounts, Vec<u8>),
) -> Result<(), Error> {
    let n_rows = counts.used;
    assert_eq!(n_rows, expected.n_samples() as u64);
    let part = |range| {
        let passes = Passes::open(path, options)?.expect("a format that is read in pieces");
        passes.part(&known, range)
    };
    let mut parts = Vec::new();
    let cuts = [0, 1, n_rows / 3, n_rows / 3 + 4096, n_rows].map(|cut| cut.min(n_rows));
    for range in cuts.windows(2).map(|cut| cut[0]..cut[1]).filter(|range| !range.is_empty()) {
        let mut rows = part(range.clone())?;
        for _ in 0..2 {
            let own: Vec<usize> = (range.start as usize..range.end as usize).collect();
            let found = all(&mut rows)?;
            same(&found, &expected.subset(&own)?, path);
            rows.rewind()?;
        }
        parts.push(all(&mut rows)?);
    }
    same(&Dataset::stacked(&parts)?, expected, path);
    for wrong in [0..0, n_rows..n_rows + 1, 0..n_rows + 1] {
        assert!(part(wrong).is_err());
    }
    assert!(Passes::open(path, options)?.unwrap().part(&known[..known.len() - 1], 0..1).is_err());
    Ok(())
}

/// Numbers, a column of text whose last level comes late, text in quotes with a line feed, blank lines.
fn lines(n: usize, gap: bool) -> String {
    let mut text = String::from("\"a\",word,note,y\r\n");
    for i in 0..n {
        let word = if i + 3 > n { "aardvark" } else { ["x", "one", "zebra"][i * 7 % 3] };
        let note = ["\"a, b\"", "\"two\nlines\"", "plain"][i % 3];
        let a = if gap && i % 1000 == 999 { String::new() } else { format!("{}", i as f64 / 7.0) };
        text.push_str(&format!("{a},{word},{note},{}\r\n", i % 4));
        if i % 500 == 0 {
            text.push_str("\r\n");
        }
    }
    text
}

#[test]
fn text_in_pieces_is_the_text_at_once() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("long.csv");
    // Several blocks of 8 MiB.
    fs::write(&path, lines(400_000, false))?;
    let rows = check(&path, &ReadOptions::with_target("y"), Missing::Error)?;
    assert_eq!(rows.class_counts().len(), 4);
    let mut small =
        GzEncoder::new(fs::File::create(folder.path().join("small.csv.gz"))?, Compression::fast());
    small.write_all(lines(9000, true).as_bytes())?;
    small.finish()?;
    let path = folder.path().join("small.csv.gz");
    check(&path, &ReadOptions::with_target("y"), Missing::DropRows)?;
    let regression = ReadOptions { task: Task::Regression, ..ReadOptions::with_target("y") };
    check(&path, &regression, Missing::DropRows)?;
    let categorical = ReadOptions { categorical: vec!["y".to_owned()], ..ReadOptions::with_target("word") };
    check(&path, &categorical, Missing::DropRows)?;
    let named = ReadOptions { id: Some("note".to_owned()), ..ReadOptions::with_target("y") };
    check(&path, &named, Missing::DropRows)?;
    // Each kind of note: dates, names of samples, numbers of rows, another target, nearly as many classes.
    let line = |i: usize| {
        let date = if i % 9 == 4 { "late".to_owned() } else { format!("2021-03-{:02}", i % 28 + 1) };
        format!("{},{date},{}%,s{i},{},{},{}\n", 3 * i, i % 7, i % 5, i % 3, 2 * i / 3)
    };
    let text: String = (0..9000).map(line).collect();
    let path = folder.path().join("notes.csv");
    fs::write(&path, format!("sep=,\nnumber,date,share,who,class,c,y\n{text}"))?;
    let options = ReadOptions { task: Task::Classification, ..ReadOptions::with_target("y") };
    assert_eq!(check(&path, &options, Missing::Error)?.notes().len(), 6);
    let options = ReadOptions { categorical: vec!["c".to_owned()], ..ReadOptions::with_target("c") };
    assert!(check(&path, &options, Missing::Error).is_err());
    let options = ReadOptions { categorical: vec!["y".to_owned()], ..ReadOptions::with_target("c") };
    assert_eq!(check(&path, &options, Missing::Error)?.notes().len(), 5);
    // A target of text that looks like numbers is no target of classes, in passes as at once.
    let path = folder.path().join("percent.csv");
    fs::write(&path, format!("x,y\n{}", (0..9000).map(|i| format!("{i},{}%\n", i % 9)).collect::<String>()))?;
    let options = ReadOptions::with_target("y");
    let whole = Table::read(&path, &options).map(drop).unwrap_err().to_string();
    let opened = Passes::open(&path, &options)?.expect("text").rows(Missing::Error, MEMORY);
    assert_eq!(opened.map(drop).unwrap_err().to_string(), whole);
    // Without names, and measurements as the target.
    let path = folder.path().join("plain.csv");
    fs::write(&path, (0..5000).map(|i| format!("{i},{},0.{i}\n", i % 3)).collect::<String>())?;
    let last = ReadOptions {
        target: TargetChoice::Guess { or_last: true },
        header: Header::No,
        ..ReadOptions::default()
    };
    assert!(check(&path, &last, Missing::Error)?.class_counts().is_empty());
    Ok(())
}

#[test]
fn arrays_in_pieces_are_the_arrays_at_once() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    for (name, fortran) in [("c.npy", "False"), ("f.npy", "True")] {
        let (n, d) = (70_000_usize, 3_usize);
        let mut header = format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': ({n}, {d}), }}");
        header.push('\n');
        let mut bytes = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes()].concat();
        bytes.extend(header.as_bytes());
        let value = |i: usize, j: usize| if j == 2 { (i % 3) as f64 } else { (i * (j + 1)) as f64 / 3.0 };
        for at in 0..n * d {
            let (i, j) = if fortran == "True" { (at % n, at / n) } else { (at / d, at % d) };
            bytes.extend(value(i, j).to_le_bytes());
        }
        let path = folder.path().join(name);
        fs::write(&path, bytes)?;
        let rows = check(&path, &ReadOptions::with_target("2"), Missing::Error)?;
        assert_eq!(rows.class_counts().len(), 3);
        let left = ReadOptions { ignore: vec!["0".to_owned()], ..ReadOptions::with_target("last") };
        check(&path, &left, Missing::Error)?;
    }
    Ok(())
}

/// Another file, other rows, other levels: an error that names the file.
#[test]
fn a_file_that_changes_between_passes_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.csv");
    let text = lines(9000, false);
    let options = ReadOptions::with_target("y");
    for (change, words) in
        [(text.replace("zebra", "zombi"), "changed"), (text.clone() + "1,x,plain,1\r\n", "changed")]
    {
        fs::write(&path, &text)?;
        let mut rows = Passes::open(&path, &options)?.expect("text").rows(Missing::Error, MEMORY)?;
        all(&mut rows)?;
        // A file system may know seconds only: then the length or the content tells.
        fs::write(&path, &change)?;
        let again = rows.rewind().and_then(|_| {
            while rows.next_batch()?.is_some() {}
            Ok(())
        });
        let told = again.expect_err("another file").to_string();
        assert!(told.contains(words) && told.contains("x.csv"), "{told}");
        assert!(rows.take_failure().is_some_and(|error| error.to_string().contains("x.csv")));
    }
    Ok(())
}

/// Parts of a table that were written by different programs.
#[test]
fn each_part_has_its_own_delimiter() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let (parts, whole) = (folder.path().join("parts"), folder.path().join("whole.csv"));
    fs::create_dir(&parts)?;
    let options = ReadOptions::with_target("y");
    // The line for Excel ends in another member of what is compressed.
    let mut second = Vec::new();
    for member in ["\u{feff}sep", "=;\na;b;y\n4;5;v\n"] {
        let mut encoder = GzEncoder::new(&mut second, Compression::fast());
        encoder.write_all(member.as_bytes())?;
        encoder.finish()?;
    }
    fs::write(parts.join("1.csv"), "a,b,y\n1,2,u\n2,3,v\n")?;
    fs::write(parts.join("2.csv.gz"), second)?;
    fs::write(parts.join("3.csv"), "a|b|y\n6|7|u\n")?;
    fs::write(&whole, "a,b,y\n1,2,u\n2,3,v\n4,5,v\n6,7,u\n")?;
    let open = || Passes::open(&parts, &options)?.expect("text").rows(Missing::Error, MEMORY);
    same(&all(&mut open()?)?, &Table::read(&whole, &options)?.complete(Missing::Error)?.dataset, &parts);
    fs::write(parts.join("3.csv"), "sep=,\na,b,y\n6,7,u,8\n")?;
    let message = open().err().expect("a line that is too long").to_string();
    assert!(message.contains("line 3: 4 cells, but line 2 has 3"), "{message}");
    Ok(())
}

#[test]
fn what_cannot_be_read_in_pieces_is_told() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.csv");
    fs::write(&path, "a,b,y\n1,2,0\n3,x,1\n4,5,0\n")?;
    let open = |options: &ReadOptions| {
        Passes::open(&path, options)?.expect("text").rows(Missing::Error, MEMORY).map(|_| ())
    };
    let told = |options: &ReadOptions| open(options).expect_err("an error").to_string();
    assert!(told(&ReadOptions::with_target("y")).contains("column `b`"));
    let weighted = ReadOptions { weights: Some("a".to_owned()), ..ReadOptions::with_target("y") };
    assert!(told(&weighted).contains("weights"));
    // A quote that is never closed is not read to the end of the file.
    fs::write(&path, format!("a,y\n{}\"{}", "1,0\n".repeat(5000), "2,1\n".repeat(600_000)))?;
    let message = told(&ReadOptions::with_target("y"));
    assert!(message.contains("line 5002: a cell of more than 1 MiB"), "{message}");
    fs::write(&path, "a,y\n1,0\n")?;
    let rows = |missing, memory| {
        Passes::open(&path, &ReadOptions::with_target("y"))?.expect("text").rows(missing, memory).map(|_| ())
    };
    assert!(rows(Missing::Mean, MEMORY).expect_err("an error").to_string().contains("drop-rows"));
    assert!(rows(Missing::Error, 1 << 20).expect_err("an error").to_string().contains("at least"));
    let svmlight = folder.path().join("x.svm");
    fs::write(&svmlight, "1 1:2 3:4\n0 2:1\n")?;
    assert!(Passes::open(&svmlight, &ReadOptions::default())?.is_none());
    fs::write(&path, "\u{feff}a,y\n1,0\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>())?;
    assert!(Passes::open(&path, &ReadOptions::with_target("y"))?.is_none());
    Ok(())
}
