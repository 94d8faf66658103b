//! A table in several files: a folder, or a pattern of names.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::quoted;
use crate::roles::matches_pattern;
use crate::source::{Content, Source, not_there};
use crate::{Error, Place, ReadOptions, Remote};

/// Folders in folders that are looked into: links may go in a circle.
const DEEPEST: usize = 32;

/// How Hive calls a folder of rows whose key is missing.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Files that are one table, one below the other.
///
/// The parts of a folder are all files in it and in the folders below, but for those whose name, or whose
/// folder's name, starts with `_` or `.`, as programs mark what is not data. A folder called `key=value`
/// gives all its rows this value of the column `key`; `%3D` is read as the character of that number, and
/// `__HIVE_DEFAULT_PARTITION__` is a missing value. Where the last part of a path has `*` or `?` and is not
/// there, the parts are the files whose names match.
///
/// The parts are in the order of their paths below the folder, compared name by name, byte by byte: so the
/// order of the rows is the same everywhere.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    keys: Vec<String>,
    parts: Vec<Part>,
}

/// A file of a [`Folder`].
#[derive(Debug, Clone)]
pub struct Part {
    path: PathBuf,
    values: Vec<Option<String>>,
    remote: Option<Arc<dyn Remote>>,
}

impl Part {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The values of the keys in the names of its folders, `None` where missing.
    pub fn values(&self) -> &[Option<String>] {
        &self.values
    }

    /// Its bytes, where they lie elsewhere and `path` is only its name.
    pub fn remote(&self) -> Option<&Arc<dyn Remote>> {
        self.remote.as_ref()
    }

    /// Its content, decompressed, to be read at any place.
    ///
    /// # Errors
    /// Those of [`Source::into_content`].
    pub fn content(&self, options: &ReadOptions) -> Result<Content, Error> {
        match &self.remote {
            Some(remote) => Ok(Content::Remote(remote.clone())),
            None => Source::open_part(self)?.into_content(options),
        }
    }
}

impl Folder {
    /// The name of the folder, or the pattern.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The keys in the names of folders.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The files, at least one.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The files of a folder or a pattern; anything else is one file, as it is named.
    ///
    /// # Errors
    /// Those of the system, and of files that do not belong together.
    pub fn or_file(path: &Path) -> Result<Self, Error> {
        let part = || Part { path: path.to_owned(), values: Vec::new(), remote: None };
        let file = || Self { path: path.to_owned(), keys: Vec::new(), parts: vec![part()] };
        Ok(Self::find(path)?.unwrap_or_else(file))
    }

    /// What lies elsewhere: each with its name below the folder, its parts joined by `/`. An empty name is
    /// that of `path` itself, where this is no folder. Which of the names are data, and the order, are as for
    /// files.
    ///
    /// # Errors
    /// Those of files that do not belong together, and where none is left.
    pub fn of_remote(path: &Path, listed: Vec<(String, Arc<dyn Remote>)>) -> Result<Self, Error> {
        let is_shown = |name: &str| !name.split('/').any(is_left_out);
        let listed = listed.into_iter().filter(|(name, _)| is_shown(name));
        let named = |(name, remote): (String, _)| match name.is_empty() {
            true => (path.to_owned(), Some(remote)),
            false => (path.join(name), Some(remote)),
        };
        Self::of(path, listed.map(named).collect())
    }

    /// An error for what lies elsewhere, in a format that is read from files only.
    pub(crate) fn only_files(&self, format: &str) -> Result<(), Error> {
        match self.parts.iter().find(|part| part.remote.is_some()) {
            None => Ok(()),
            Some(part) => {
                let what = format!("a {format} file that lies elsewhere");
                Err(Error::unsupported(&part.path, what, "write it as Parquet, or copy it to a file"))
            }
        }
    }

    /// The parts, where `path` is a folder or a pattern.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Error> {
        let files = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let mut files = Vec::new();
                gather(path, 0, &mut files)?;
                files
            }
            Ok(_) => return Ok(None),
            Err(_) => match matching(path)? {
                Some(files) => files,
                None => return Ok(None),
            },
        };
        Self::of(path, files.into_iter().map(|file| (file, None)).collect()).map(Some)
    }

    fn of(path: &Path, mut files: Vec<(PathBuf, Option<Arc<dyn Remote>>)>) -> Result<Self, Error> {
        // Paths are compared name by name.
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut keys: Option<Vec<String>> = None;
        let mut parts = Vec::with_capacity(files.len());
        for (file, remote) in files {
            let below = file.strip_prefix(path).unwrap_or(Path::new(""));
            let (found, values): (Vec<String>, Vec<Option<String>>) = partition(below).into_iter().unzip();
            let known = keys.get_or_insert_with(|| found.clone());
            if *known != found {
                let told = |keys: &[String]| match keys {
                    [] => "no folder called key=value".to_owned(),
                    keys => format!("folders for {}", keys.join(", ")),
                };
                let problem = format!("it lies in {}, but others in {}", told(&found), told(known));
                let advice = "put all parts into folders with the same keys";
                return Err(Error::malformed(&file, Place::File, problem, advice));
            }
            parts.push(Part { path: file, values, remote });
        }
        if parts.is_empty() {
            let advice = "name a file, or a folder with files whose names do not start with _ or .";
            return Err(Error::malformed(path, Place::File, "there is no file in it", advice));
        }
        Ok(Self { path: path.to_owned(), keys: keys.unwrap_or_default(), parts })
    }
}

/// Whether a name marks what is not data.
fn is_hidden(name: &str) -> bool {
    name.starts_with(['_', '.'])
}

/// The same in a folder, where a partition may start so: `_year=2024`.
fn is_left_out(name: &str) -> bool {
    is_hidden(name) && !(name.starts_with('_') && name.contains('='))
}

fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if depth > DEEPEST {
        let problem = format!("there are more than {DEEPEST} folders in each other");
        return Err(Error::malformed(folder, Place::File, problem, "check links that go in a circle"));
    }
    for entry in fs::read_dir(folder).map_err(|error| Error::reading(folder, error))? {
        let path = entry.map_err(|error| Error::reading(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_left_out(&name) {
            continue;
        }
        let metadata = fs::metadata(&path).map_err(|error| Error::reading(&path, error))?;
        match metadata.is_dir() {
            true => gather(&path, depth + 1, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// The files whose names match the last part of a path; `None` where that is no pattern.
fn matching(path: &Path) -> Result<Option<Vec<PathBuf>>, Error> {
    let Some(pattern) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
    if !pattern.contains(['*', '?']) {
        return Ok(None);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if folder.to_string_lossy().contains(['*', '?']) && !folder.exists() {
        let advice = "name the folder above, of which all files are read, or each folder by itself";
        return Err(Error::malformed(path, Place::File, "a pattern is for the names of files alone", advice));
    }
    let characters: Vec<char> = pattern.chars().collect();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| not_there(folder, error))? {
        let entry = entry.map_err(|error| Error::reading(folder, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if matches_pattern(&characters, &name) && !is_hidden(&name) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    if files.is_empty() {
        let problem = format!("no file matches {}", quoted(pattern));
        let advice = "`*` stands for any characters and `?` for one; small and capital letters differ";
        return Err(Error::malformed(path, Place::File, problem, advice));
    }
    Ok(Some(files))
}

/// The keys and values in the names of the folders of a file.
fn partition(below: &Path) -> Vec<(String, Option<String>)> {
    let folders = below.parent().into_iter().flat_map(Path::components);
    let pair = |folder: Component<'_>| {
        let name = folder.as_os_str().to_string_lossy().into_owned();
        let (key, value) = name.split_once('=')?;
        Some((decoded(key), (value != MISSING).then(|| decoded(value))))
    };
    folders.filter_map(pair).collect()
}

/// Text in which `%` and two digits stand for a byte, as Hive and Spark write what a file name cannot have.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_in_the_names_of_folders() {
        let found = partition(Path::new("year=2024/plain/a%20b=c%3Dd=e/part-0=1.parquet"));
        let expected = [("year", Some("2024")), ("a b", Some("c=d=e"))];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.map(str::to_owned)));
        assert_eq!(found, expected);
        assert_eq!(partition(Path::new("k=__HIVE_DEFAULT_PARTITION__/x")), [("k".to_owned(), None)]);
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%C3%A9"), "é");
        assert_eq!(decoded("%FF"), "%FF");
    }
}
