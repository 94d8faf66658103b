//! Workbooks whose sheet is damaged, not the archive around it: its checksums would find that first.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The parts around a sheet; the format is ECMA-376.
const PARTS: [(&str, &str); 5] = [
    (
        "[Content_Types].xml",
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#,
    ),
    (
        "_rels/.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
    ),
    (
        "xl/workbook.xml",
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="patients" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
    ),
    (
        "xl/_rels/workbook.xml.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
    ),
    (
        "xl/styles.xml",
        r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#,
    ),
];

const SHEET: &str = "xl/worksheets/sheet1.xml";
const TEXTS: &str = "xl/sharedStrings.xml";

/// A workbook as it is; or, of bytes that begin with `<`, one whose sheet they are, up to a zero byte, and
/// whose shared texts follow that.
pub(crate) fn workbook(bytes: &[u8]) -> Vec<u8> {
    if bytes.first() != Some(&b'<') {
        return bytes.to_vec();
    }
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (sheet, texts) = (&bytes[..at], bytes.get(at + 1..).unwrap_or_default());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let own = PARTS.iter().map(|(name, content)| (*name, content.as_bytes()));
    for (name, content) in own.chain([(SHEET, sheet), (TEXTS, texts)]) {
        archive.start_file(name, SimpleFileOptions::default()).expect("a part");
        archive.write_all(content).expect("memory takes it");
    }
    archive.finish().expect("memory takes it").into_inner()
}
