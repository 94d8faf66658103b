//! Output: files that are written completely or not at all, and a stdout that may close early.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use fewest::data::{Folder, Part};

use crate::failure::Failure;

/// Refuses outputs that would fail or overwrite something, before the computation starts: the input file as
/// output, also where it is stdin, a file of an input folder, a folder that does not exist or cannot be
/// written, a folder instead of a file, two outputs in one file.
pub(crate) fn check(input: &Path, outputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let named: Vec<(&str, &Path)> =
        outputs.iter().filter_map(|(option, path)| path.map(|path| (*option, path))).collect();
    // A folder that cannot be listed is told where it is read.
    let folder = if named.is_empty() { None } else { Folder::or_file(input).ok() };
    let parts = folder.iter().flat_map(Folder::parts).map(Part::path);
    let inputs: Vec<&Path> = parts.chain([input]).collect();
    for (at, (option, path)) in named.iter().enumerate() {
        let shown = path.display();
        if path.as_os_str() == "-" {
            return Err(Failure::new(format!(
                "{option} -: only --json writes to stdout: give the name of a file"
            )));
        }
        if inputs.iter().any(|input| same_file(input, path)) {
            return Err(Failure::new(format!(
                "{option} {shown}: this is the input file, which is never overwritten: use another name"
            )));
        }
        if input.is_dir() && is_part_of(input, path) {
            return Err(Failure::new(format!(
                "{option} {shown}: the next run would read it as a part of the table {}: write it elsewhere, or \
                 under a name that begins with _",
                input.display()
            )));
        }
        if *option == "--report" && !is_html(path) {
            return Err(Failure::new(format!(
                "{option} {shown}: a report is an HTML page: give it a name that ends in .html (a browser prints it as \
                 PDF)"
            )));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder
            && !folder.is_dir()
        {
            return Err(Failure::new(format!(
                "{option} {shown}: the folder {} does not exist: create it first",
                folder.display()
            )));
        }
        fewest::data::check_writable(path).map_err(|error| Failure::new(format!("{option} {error}")))?;
        if let Some((other, _)) = named[..at].iter().find(|(_, earlier)| same_file(earlier, path)) {
            return Err(Failure::new(format!(
                "{option} {shown}: {other} writes the same file: use another name"
            )));
        }
    }
    Ok(())
}

/// Whether a file below a folder would be a part of its table.
fn is_part_of(folder: &Path, path: &Path) -> bool {
    let (folder, path) = (resolved(folder), resolved(path));
    path.strip_prefix(&folder)
        .is_ok_and(|below| !below.iter().any(|name| name.to_string_lossy().starts_with(['_', '.'])))
}

/// Whether a browser takes the file as a page, or its name says nothing.
fn is_html(path: &Path) -> bool {
    path.extension().is_none_or(|extension| {
        ["html", "htm", "xhtml"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// Whether two paths are the same regular file, or would be after writing. `-` is stdin.
fn same_file(a: &Path, b: &Path) -> bool {
    let a = if a.as_os_str() == "-" { Path::new("/dev/stdin") } else { a };
    let metadata = |path: &Path| fs::metadata(path).ok().filter(fs::Metadata::is_file);
    match (metadata(a), metadata(b)) {
        (Some(a), Some(b)) if is_same(&a, &b) => true,
        (Some(_), _) => resolved(a) == resolved(b),
        // What is no regular file, such as `/dev/null`, may be there twice; what is not there yet may not.
        _ => !a.exists() && resolved(a) == resolved(b),
    }
}

#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Paths tell all there is to know.
#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}

/// The path without links, `.` and `..`, also if only its folder exists.
fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (fs::canonicalize(folder), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}

/// Writes a whole file.
pub(crate) fn write(option: &str, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fewest::data::write_atomically(path, bytes).map_err(|error| Failure::new(format!("{option} {error}")))
}

/// Writes to stdout. A reader that closes the pipe early (`| head`) is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// As [`print`], of what is text already.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("stdout: cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one line to stderr, and ignores an error of stderr.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "fewest: {line}");
}
