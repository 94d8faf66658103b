//! Workbooks of Excel 97 to 2003 and of OpenDocument: files that xlwt 1.3 and odfpy 1.4 have written, and
//! damaged ones.

use std::io::{Cursor, Read, Write};

use fewest_core::FeatureKind;
use fewest_data::{Error, Formats, ReadOptions, Table};
use fewest_excel::EXCEL;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const XLS: &[u8] = include_bytes!("files/patients.xls");
const ODS: &[u8] = include_bytes!("files/patients.ods");

fn read(name: &str, bytes: &[u8], change: impl FnOnce(&mut ReadOptions)) -> Result<Table, Error> {
    let mut options = ReadOptions { formats: Formats::standard().with(EXCEL), ..ReadOptions::default() };
    change(&mut options);
    Table::read_bytes(name, bytes.to_vec().into(), &options)
}

fn column(table: &Table, j: usize) -> Vec<f64> {
    table.features().column(j, &mut Vec::new()).expect("memory holds it").to_vec(table.n_samples())
}

fn levels(table: &Table, j: usize) -> Vec<String> {
    match table.feature_kind(j) {
        FeatureKind::Categorical { levels } => levels.clone(),
        other => panic!("{other:?}"),
    }
}

/// A text sheet of another workbook of the same kind as `ODS`.
fn ods(content: &str) -> Vec<u8> {
    let mut old = ZipArchive::new(Cursor::new(ODS)).expect("a workbook");
    let mut new = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..old.len() {
        let mut part = old.by_index(index).expect("a part");
        let name = part.name().expect("a name").into_owned();
        let method = if index == 0 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        new.start_file(&name, SimpleFileOptions::default().compression_method(method)).expect("a part");
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).expect("a part");
        new.write_all(if name == "content.xml" { content.as_bytes() } else { &bytes }).expect("memory");
    }
    new.finish().expect("memory takes it").into_inner()
}

fn sheet_of(rows: &str) -> Vec<u8> {
    ods(&format!("<d><table:table table:name=\"s\">{rows}</table:table></d>"))
}

/// A compound file of one stream: the table of sectors, the directory, the stream.
fn compound(name: &str, stream: &[u8]) -> Vec<u8> {
    let n = stream.len().max(4096).div_ceil(512);
    let end = 0xFFFF_FFFE_u32;
    let mut file = vec![0; 512 * (n + 3)];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    put(26, &[3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    put(44, &1_u32.to_le_bytes());
    put(48, &1_u32.to_le_bytes());
    put(56, &4096_u32.to_le_bytes());
    put(60, &end.to_le_bytes());
    put(68, &end.to_le_bytes());
    put(76, &0_u32.to_le_bytes());
    put(80, &[0xFF; 512 - 80]);
    put(512, &0xFFFF_FFFD_u32.to_le_bytes());
    put(516, &end.to_le_bytes());
    for i in 0..n {
        let next = if i + 1 == n { end } else { i as u32 + 3 };
        put(512 + 4 * (i + 2), &next.to_le_bytes());
    }
    for (entry, (name, start, length)) in [("Root Entry", end, 0), (name, 2, 512 * n)].into_iter().enumerate()
    {
        let at = 1024 + 128 * entry;
        let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        put(at, &units);
        put(at + 64, &(units.len() as u16 + 2).to_le_bytes());
        put(at + 116, &start.to_le_bytes());
        put(at + 120, &(length as u32).to_le_bytes());
    }
    put(1536, stream);
    file
}

fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat()
}

fn cell(kind: u16, row: u16, column: u16, rest: &[u8]) -> Vec<u8> {
    let place = [row, column, 0].map(u16::to_le_bytes).concat();
    record(kind, &[&place, rest].concat())
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_le_bytes()[..], &[0], text.as_bytes()].concat()
}

/// A workbook with these records before its sheet and in it.
fn xls(before: &[u8], cells: &[Vec<u8>]) -> Vec<u8> {
    let begin = record(0x0809, &[0, 6, 5, 0, 0, 0, 0, 0]);
    let end = record(0x000A, &[]);
    let name = [&[0, 0, 1, 0][..], b"s"].concat();
    let start = begin.len() + before.len() + 4 + 4 + name.len() + end.len();
    let sheet = record(0x0085, &[&(start as u32).to_le_bytes()[..], &name].concat());
    compound("Workbook", &[&begin, before, &sheet, &end, &begin, &cells.concat(), &end].concat())
}

#[test]
fn older_and_open_workbooks_are_the_csv_file_that_would_be_made_of_them() -> Result<(), Error> {
    let csv = "age,sick,seen,mark,stay\n0.1,true,2026-11-22,1e-300,1.5\n,false,2026-11-23T12:00:00,3,0.25\n\
               12345678.9,false,2026-11-22,,2\n";
    let options = ReadOptions::default();
    let expected = Table::read_bytes("patients.csv", csv.as_bytes().into(), &options)?;
    for (name, bytes) in [("patients.xls", XLS), ("patients.ods", ODS), ("patients", XLS), ("patients", ODS)]
    {
        let table = read(name, bytes, |_| {})?;
        assert_eq!((table.n_samples(), table.n_features()), (3, 5), "{name}");
        for j in 0..5 {
            assert_eq!(table.feature_name(j), expected.feature_name(j), "{name}");
            assert_eq!(table.feature_kind(j), expected.feature_kind(j), "{name}");
            let bits = |table: &Table| column(table, j).into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(&table), bits(&expected), "{name}, column {j}");
        }
    }
    Ok(())
}

#[test]
fn texts_of_every_alphabet_are_kept() -> Result<(), Error> {
    for (name, bytes) in [("a.xls", XLS), ("a.ods", ODS)] {
        let table = read(name, bytes, |options| options.x_variable = Some("texts".to_owned()))?;
        assert_eq!(levels(&table, 0), ["a, \"b\"", "two lines"], "{name}");
        assert_eq!(table.feature_name(1), "größe", "{name}");
        assert_eq!(levels(&table, 1), ["x", "Ω 日本"], "{name}");
    }
    let error = read("a.xls", XLS, |options| options.x_variable = Some("Texts".to_owned())).unwrap_err();
    assert!(error.to_string().contains("\"Sheet1\", \"texts\", \"long\""), "{error}");
    Ok(())
}

/// The shared texts take several records, and some go on in the middle with wider characters.
#[test]
fn long_tables_of_texts_go_on_in_further_records() -> Result<(), Error> {
    let table = read("a.xls", XLS, |options| options.x_variable = Some("long".to_owned()))?;
    let word = |i: usize| ["größe", "Ω日本語", "plain"][i % 3];
    let mut expected: Vec<String> =
        (0..260).map(|i| format!("{} {i:04} abcdefghijklmnopqrst", word(i))).collect();
    expected.sort();
    let mut found = levels(&table, 0);
    found.sort();
    assert_eq!(found, expected);
    let numbers = column(&table, 1);
    assert!((0..260).all(|i| numbers[i] == if i % 2 == 0 { i as f64 } else { i as f64 / 100.0 }));
    Ok(())
}

#[test]
fn records_of_every_kind_are_cells() -> Result<(), Error> {
    let formula = |value: [u8; 8]| [&value[..], &[0; 8]].concat();
    let chart = [record(0x0809, &[0; 8]), cell(0x0203, 9, 9, &7.0_f64.to_le_bytes()), record(0x000A, &[])];
    let cells = [
        // Out of order, as some programs write them.
        cell(0x0203, 1, 0, &2.5_f64.to_le_bytes()),
        cell(0x0204, 0, 0, &text("x")),
        cell(0x0204, 0, 1, &text("formula")),
        cell(0x0204, 0, 2, &text("truth")),
        cell(0x0006, 1, 1, &formula(7.25_f64.to_le_bytes())),
        cell(0x0006, 1, 2, &formula([1, 0, 1, 0, 0, 0, 0xFF, 0xFF])),
        // Two short numbers in a record.
        record(
            0x00BD,
            &[&[2, 0, 0, 0][..], &[0, 0, 0x0E, 0, 0, 0], &[0, 0, 0x0F, 0, 0, 0], &[1, 0]].concat(),
        ),
        cell(0x0205, 2, 2, &[0, 0]),
        chart.concat(),
    ];
    let table = read("a.xls", &xls(&[], &cells), |_| {})?;
    assert_eq!(column(&table, 0), [2.5, 3.0]);
    assert_eq!(column(&table, 1), [7.25, 0.03]);
    assert_eq!(table.feature_name(2), "truth");
    assert_eq!(table.n_samples(), 2);
    // The text of a formula follows it; an error of a formula is text as Excel shows it.
    let cells = [
        cell(0x0204, 0, 0, &text("word")),
        cell(0x0006, 1, 0, &formula([0, 0, 0, 0, 0, 0, 0xFF, 0xFF])),
        record(0x0207, &text("yes")),
        cell(0x0006, 2, 0, &formula([2, 0, 0x07, 0, 0, 0, 0xFF, 0xFF])),
    ];
    assert_eq!(levels(&read("a.xls", &xls(&[], &cells), |_| {})?, 0), ["#DIV/0!", "yes"]);
    Ok(())
}

#[test]
fn what_cannot_be_read_is_said() {
    let told = |name: &str, bytes: &[u8], part: &str| {
        let error = read(name, bytes, |_| {}).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains(part), "{error}");
    };
    told("a.xls", &xls(&record(0x002F, &[1, 0]), &[]), "password");
    told("a.xls", &xls(&[], &[]), "sheet \"s\" is empty");
    told("a.xls", &compound("Book", &[]), "older than Excel 97");
    told("a.xls", &compound("Workbook", &record(0x0809, &[0, 5, 5, 0])), "older than Excel 97");
    told("a.xls", &compound("EncryptedPackage", &[]), "password");
    told("a.xls", &compound("WordDocument", &[]), "no workbook");
    told("a.xls", &xls(&[], &[cell(0x00FD, 0, 0, &[9, 0, 0, 0])]), "a shared text is missing");
    told("a.ods", &ods("<d/>"), "no sheet");
    told("a.ods", &sheet_of(""), "sheet \"s\" is empty");
    told("a.ods", &sheet_of("<table:table-row>"), "cannot be read");
    told("a.ods", &sheet_of("<table:table-row table:number-rows-repeated=\"many\"/>"), "cannot be read");
    for end in [8, 40, 512, 3000, XLS.len() / 2, XLS.len() - 2000] {
        told("a.xls", &XLS[..end], "a.xls");
    }
    for end in [30, 90, ODS.len() / 2, ODS.len() - 3] {
        told("a.ods", &ODS[..end], "a.ods");
    }
}

#[test]
fn text_that_is_called_xls_is_read_as_text() -> Result<(), Error> {
    let table = read("a.xls", b"x\ty\n1\t2\n3\t4\n", |_| {})?;
    assert_eq!(column(&table, 1), [2.0, 4.0]);
    Ok(())
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    let filled = "<table:table-cell office:value-type=\"float\" office:value=\"1\" \
                  table:number-columns-repeated=\"16384\"/>";
    let ods = sheet_of(&format!(
        "<table:table-row table:number-rows-repeated=\"1048576\">{filled}</table:table-row>"
    ));
    // One text of 60 thousand letters, in 20 thousand cells.
    let shared = record(0x00FC, &[&[1, 0, 0, 0, 1, 0, 0, 0][..], &[0x58, 0x1B, 0], &[b'a'; 7000]].concat());
    let cells: Vec<Vec<u8>> = (0..4000).map(|row| cell(0x00FD, row, 0, &[0; 4])).collect();
    for (name, bytes) in [("a.ods", ods), ("a.xls", xls(&shared, &cells))] {
        let error = read(name, &bytes, |options| options.memory = Some(10 << 20)).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
}

#[test]
fn damaged_bytes_are_refused_or_read() {
    // By a linear congruential generator: the same damage every time.
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let content = {
        let mut archive = ZipArchive::new(Cursor::new(ODS)).expect("a workbook");
        let mut text = String::new();
        archive.by_name("content.xml").expect("a part").read_to_string(&mut text).expect("text");
        text
    };
    // Where there are records: damage elsewhere is rarely looked at.
    let full: Vec<usize> = (0..XLS.len()).filter(|&at| XLS[at] != 0).collect();
    let (mut n_xls, mut n_ods) = (0, 0);
    for round in 0..3000 {
        let mut bytes = XLS.to_vec();
        for _ in 0..=next(4) {
            let at = if round % 2 == 0 { next(1000) } else { full[next(full.len())] };
            bytes[at] = [0, 1, 0xFF, next(256) as u8][next(4)];
        }
        match read("a.xls", &bytes, |options| options.memory = Some(1 << 28)) {
            Ok(_) => n_xls += 1,
            Err(error) => assert!(error.to_string().starts_with("a.xls"), "{error}"),
        }
        let mut text = content.clone().into_bytes();
        for _ in 0..=next(3) {
            let at = next(text.len());
            text[at] = b" <>/=\"0123456789:e&;"[next(20)];
        }
        let Ok(text) = String::from_utf8(text) else { continue };
        match read("a.ods", &ods(&text), |options| options.memory = Some(1 << 28)) {
            Ok(_) => n_ods += 1,
            Err(error) => assert!(error.to_string().starts_with("a.ods"), "{error}"),
        }
    }
    for n in [n_xls, n_ods] {
        assert!((100..2900).contains(&n), "{n_xls} and {n_ods} of 3000 were read");
    }
}
