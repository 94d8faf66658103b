//! Workbooks as spreadsheet programs write them, and damaged ones.

use std::io::{Cursor, Write};

use fewest_data::{Error, Formats, ReadOptions, Table};
use fewest_excel::EXCEL;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook of these sheets (their names and rows) with three shared texts; style 1 is a date.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut part = |name: &str, content: String| {
        archive.start_file(name, SimpleFileOptions::default()).expect("a part");
        archive.write_all(content.as_bytes()).expect("memory takes it");
    };
    part("[Content_Types].xml", format!(r#"<Types xmlns="{PACKAGE}/content-types"/>"#));
    let book =
        format!(r#"<Relationship Id="a" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/>"#);
    part("_rels/.rels", format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{book}</Relationships>"#));
    let listed: String = (1..)
        .zip(sheets)
        .map(|(i, (name, _))| format!(r#"<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>"#))
        .collect();
    part(
        "xl/workbook.xml",
        format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>"#),
    );
    let related: String = (1..=sheets.len())
        .map(|i| {
            format!(
                r#"<Relationship Id="rId{i}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{i}.xml"/>"#
            )
        })
        .collect();
    part(
        "xl/_rels/workbook.xml.rels",
        format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>"#),
    );
    part(
        "xl/styles.xml",
        format!(
            r#"<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
        ),
    );
    part(
        "xl/sharedStrings.xml",
        format!(
            r#"<sst xmlns="{MAIN}"><si><t>age</t></si><si><t>a, "b"</t></si><si><t>two
lines</t></si></sst>"#
        ),
    );
    for (i, (_, rows)) in (1..).zip(sheets) {
        part(
            &format!("xl/worksheets/sheet{i}.xml"),
            format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#),
        );
    }
    archive.finish().expect("memory takes it").into_inner()
}

fn read(bytes: Vec<u8>, change: impl FnOnce(&mut ReadOptions)) -> Result<Table, Error> {
    let mut options = ReadOptions { formats: Formats::standard().with(EXCEL), ..ReadOptions::default() };
    change(&mut options);
    Table::read_bytes("patients.xlsx", bytes.into(), &options)
}

fn text(cell: &str, value: &str) -> String {
    format!(r#"<c r="{cell}" t="inlineStr"><is><t>{value}</t></is></c>"#)
}

fn column(table: &Table, j: usize) -> Vec<f64> {
    table.features().column(j, &mut Vec::new()).expect("memory holds it").to_vec(table.n_samples())
}

/// Rows from the third on, columns from B on, as people lay out their tables.
fn patients() -> String {
    let header = [
        r#"<c r="B3" t="s"><v>0</v></c>"#.to_owned(),
        text("C3", "sick"),
        text("D3", "seen"),
        text("E3", "mark"),
    ];
    let values = [
        r#"<row r="4"><c r="B4"><v>0.1</v></c><c r="C4" t="b"><v>1</v></c><c r="D4" s="1"><v>46348</v></c><c r="E4"><f>B4*2</f><v>1e-300</v></c></row>"#,
        r#"<row r="5"><c r="B5" s="1"/></row>"#,
        r#"<row r="6"><c r="C6" t="b"><v>0</v></c><c r="D6" s="1"><v>46349.5</v></c><c r="E6"><v>3</v></c></row>"#,
        r#"<row r="7"><c r="B7"><v>12345678.9</v></c><c r="C7" t="b"><v>0</v></c><c r="D7" s="1"><v>46348</v></c></row>"#,
    ];
    format!(r#"<row r="3">{}</row>{}"#, header.concat(), values.concat())
}

#[test]
fn a_sheet_is_the_csv_file_that_would_be_made_of_it() -> Result<(), Error> {
    let csv = "age,sick,seen,mark\n0.1,true,2026-11-22,1e-300\n,false,2026-11-23T12:00:00,3\n\
               12345678.9,false,2026-11-22,\n";
    let options = ReadOptions::default();
    let expected = Table::read_bytes("patients.csv", csv.as_bytes().into(), &options)?;
    let table = read(workbook(&[("Sheet1", &patients())]), |_| {})?;
    assert_eq!((table.n_samples(), table.n_features()), (3, 4));
    for j in 0..4 {
        assert_eq!(table.feature_name(j), expected.feature_name(j));
        assert_eq!(table.feature_kind(j), expected.feature_kind(j));
        let bits = |table: &Table| column(table, j).into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(&table), bits(&expected), "column {j}");
    }
    Ok(())
}

#[test]
fn a_sheet_is_found_by_its_name() -> Result<(), Error> {
    let other = format!("<row r=\"1\">{}</row><row r=\"2\"><c r=\"A2\"><v>5</v></c></row>", text("A1", "x"));
    let bytes = workbook(&[("notes", ""), ("data", &other)]);
    let table = read(bytes.clone(), |options| options.x_variable = Some("data".to_owned()))?;
    assert_eq!(column(&table, 0), [5.0]);
    let error = read(bytes.clone(), |_| {}).unwrap_err().to_string();
    assert!(error.contains("patients.xlsx") && error.contains("\"notes\" is empty"), "{error}");
    assert!(error.ends_with("--x-variable): \"data\""), "{error}");
    // What was read is told, in a note or in the error.
    let two = workbook(&[("data", &other), ("notes", "")]);
    let table = read(two.clone(), |_| {})?;
    assert!(table.notes()[0].starts_with("sheet \"data\" was read"), "{:?}", table.notes());
    let error =
        read(two, |options| options.target = ReadOptions::with_target("y").target).unwrap_err().to_string();
    assert!(error.contains("`y`") && error.contains("\"notes\""), "{error}");
    let error = read(bytes, |options| options.x_variable = Some("Data".to_owned())).unwrap_err().to_string();
    assert!(error.contains("\"Data\"") && error.contains("\"notes\", \"data\""), "{error}");
    Ok(())
}

#[test]
fn texts_keep_commas_and_quotes_and_lose_line_ends() -> Result<(), Error> {
    let shared = |cell: &str, i: usize| format!(r#"<c r="{cell}" t="s"><v>{i}</v></c>"#);
    let rows = format!(
        r#"<row r="1">{}</row><row r="2">{}</row><row r="3">{}</row>"#,
        text("A1", "kind"),
        shared("A2", 1),
        shared("A3", 2)
    );
    let table = read(workbook(&[("s", &rows)]), |_| {})?;
    let kind = format!("{:?}", table.feature_kind(0));
    assert!(kind.contains(r#"a, \"b\""#) && kind.contains("two lines"), "{kind}");
    Ok(())
}

#[test]
fn a_wrong_cell_is_told_by_the_row_of_the_sheet() {
    let rows = format!(
        r#"<row r="2">{}</row><row r="4"><c r="A4"><v>1</v></c></row><row r="6">{}</row>"#,
        text("A2", "x"),
        text("A6", "ill")
    );
    let error = read(workbook(&[("s", &rows)]), |_| {}).unwrap_err().to_string();
    assert!(error.contains("line 6") && error.contains("ill"), "{error}");
}

#[test]
fn damaged_workbooks_are_refused() {
    let whole = workbook(&[("Sheet1", &patients())]);
    for end in [30, 60, 300, whole.len() / 2, whole.len() - 3] {
        let error = read(whole[..end].to_vec(), |_| {}).unwrap_err().to_string();
        assert!(error.starts_with("patients.xlsx"), "{end}: {error}");
    }
    // A cell out of order, one outside any sheet of Excel, and text that is no number.
    for row in [
        r#"<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>"#,
        r#"<row r="1"><c r="ZZZZZZZZZZ1"><v>1</v></c></row>"#,
        r#"<row r="1"><c r="A99999999999999"><v>1</v></c></row>"#,
        r#"<row r="1"><c r="A1" t="s"><v>77</v></c></row>"#,
    ] {
        if let Err(error) = read(workbook(&[("s", row)]), |_| {}) {
            assert!(error.to_string().starts_with("patients.xlsx"), "{error}");
        }
    }
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    // One cell in the last row and column: a table of all between would have 17 thousand million cells.
    let far =
        r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>"#;
    let many: String =
        (2..20_000).map(|i| format!(r#"<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>"#)).collect();
    let many = format!(r#"<row r="1"><c r="A1"><v>1</v></c></row>{many}"#);
    let blank = " ".repeat(50 << 20);
    for (rows, memory) in [(far, 1 << 20), (many.as_str(), 100 << 20), (blank.as_str(), 50 << 20)] {
        let error = read(workbook(&[("s", rows)]), |options| options.memory = Some(memory)).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
}

#[test]
fn an_array_of_numpy_is_no_workbook() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("X.npy", SimpleFileOptions::default()).expect("a part");
    let bytes = archive.finish().expect("memory takes it").into_inner();
    let error = read(bytes, |_| {}).unwrap_err().to_string();
    assert!(error.contains("zip archive"), "{error}");
}

#[test]
fn damaged_parts_are_refused_or_read() {
    let whole = patients();
    // Each byte in turn, by a linear congruential generator: the same damage every time.
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut n_read = 0;
    for _ in 0..2000 {
        let mut rows = whole.clone().into_bytes();
        for _ in 0..=next(3) {
            let at = next(rows.len());
            match next(3) {
                0 => rows[at] = b" <>/=\"0123456789AZstv.-e&;"[next(26)],
                1 => drop(rows.drain(at..(at + 1 + next(9)).min(whole.len() / 2).max(at))),
                _ => rows.insert(at, b"9"[0]),
            }
        }
        let rows = String::from_utf8(rows).expect("all bytes are ASCII");
        match read(workbook(&[("s", &rows)]), |options| options.memory = Some(1 << 28)) {
            Ok(_) => n_read += 1,
            Err(error) => assert!(error.to_string().starts_with("patients.xlsx"), "{error}"),
        }
    }
    assert!((100..1900).contains(&n_read), "{n_read} of 2000 were read");
}

#[test]
fn times_of_day_and_what_no_date_has_are_numbers() -> Result<(), Error> {
    let row = |i: usize, days: f64| format!(r#"<row r="{i}"><c r="A{i}" s="1"><v>{days}</v></c></row>"#);
    let days = [0.25, 0.5, -1.0, 2_958_466.0];
    let rows: String = (2..).zip(days).map(|(i, days)| row(i, days)).collect();
    let table = read(workbook(&[("s", &format!(r#"<row r="1">{}</row>{rows}"#, text("A1", "at")))]), |_| {})?;
    assert_eq!(column(&table, 0), days);
    Ok(())
}

#[test]
fn what_is_needed_is_told_where_it_is_known() {
    let rows = format!(r#"<row r="1">{}</row>{}"#, text("A1", "x"), "<row r=\"2\"></row>".repeat(4000));
    let told = |memory| {
        read(workbook(&[("s", &rows)]), |options| options.memory = Some(memory)).unwrap_err().to_string()
    };
    // The parts declare their sizes; a file that is too large itself is not read to its end.
    assert!(told(20_000).contains("its values need about 69"), "{}", told(20_000));
    assert!(
        told(1024).contains("need 0.5 KiB of memory or more, more than half of the 1.0 KiB"),
        "{}",
        told(1024)
    );
}

#[test]
fn hidden_sheets_are_not_the_first() -> Result<(), Error> {
    let sheet = |value: u8| {
        format!(r#"<row r="1">{}</row><row r="2"><c r="A2"><v>{value}</v></c></row>"#, text("A1", "x"))
    };
    let bytes = workbook(&[("lists\" state=\"hidden", &sheet(1)), ("data", &sheet(2))]);
    assert_eq!(column(&read(bytes.clone(), |_| {})?, 0), [2.0]);
    let table = read(bytes, |options| options.x_variable = Some("lists".to_owned()))?;
    assert_eq!(column(&table, 0), [1.0]);
    assert!(table.notes().is_empty());
    assert_eq!(table.format().name(), "excel");
    Ok(())
}

#[test]
fn other_archives_and_texts_are_told_apart() {
    let archive = |parts: &[&str]| {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for part in parts {
            archive.start_file(*part, SimpleFileOptions::default()).expect("a part");
        }
        archive.finish().expect("memory takes it").into_inner()
    };
    let told = |bytes: Vec<u8>| read(bytes, |_| {}).unwrap_err().to_string();
    let document = told(archive(&["[Content_Types].xml", "word/document.xml"]));
    assert!(document.contains("it is no workbook"), "{document}");
    let binary = told(archive(&["[Content_Types].xml", "xl/workbook.bin"]));
    assert!(binary.contains(".xlsb") && binary.contains("save it as .xlsx"), "{binary}");
    let text = told(b"a,b\n1,2\n".to_vec());
    assert!(text.contains("does not begin like a workbook") && text.contains(".csv"), "{text}");
}
