//! What executors are asked, and what they answer: as bytes.

use std::ops::Range;
use std::path::PathBuf;

use fewest::core::{AskedPass, BATCH_ROWS, Error as CoreError, State};
use fewest::data::{Folder, Missing, ReadOptions, Rows, TargetChoice, Task};
use fewest::registry::{Method, Parameters, Registry};

use crate::last_table::{LastTable, Of};
use crate::objects::Object;
use crate::s3::Stores;
use crate::secret::Secret;

/// The table, as the command line names it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// A file, or a folder of files with the same columns, at a path that all machines have; or an address
    /// `s3://bucket/key`, of an object or of what the keys of objects begin with before a `/`.
    pub path: PathBuf,
    /// The columns of the target; none: the column that has a name of one, or the last.
    pub target: Vec<String>,
    /// The kind of target.
    pub task: Task,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Columns of numbers that are categories.
    pub categorical: Vec<String>,
    /// What to do about missing values: an error, or rows that have one are left out.
    pub missing: Missing,
}

impl Table {
    /// How it is read, with the formats of `registry`.
    pub(crate) fn options(&self, registry: &Registry, needs_target: bool) -> ReadOptions {
        ReadOptions {
            formats: registry.formats().clone(),
            target: match self.target.is_empty() {
                true => TargetChoice::Guess { or_last: needs_target },
                false => TargetChoice::Columns(self.target.clone()),
            },
            task: self.task,
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
            ..ReadOptions::default()
        }
    }
}

/// One pass of a method over the table: everything but which of its tasks.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) table: Table,
    /// The objects of a table in an object store, so that all machines read the same; otherwise none.
    pub(crate) objects: Vec<Object>,
    pub(crate) method: String,
    /// As `NAME=VALUE`.
    pub(crate) parameters: Vec<String>,
    pub(crate) k: usize,
    /// Bytes that the sums may take.
    pub(crate) memory: usize,
    /// What is known of the table: [`Rows::known`].
    pub(crate) known: Vec<u8>,
    /// Rows of the table that are used.
    pub(crate) n_rows: u64,
    /// Rows of each task but the last: whole batches.
    pub(crate) task_rows: u64,
    /// Which part of the features, and what is known from the passes before.
    pub(crate) pass: AskedPass,
}

impl Request {
    /// The method with its parameters.
    pub(crate) fn method<'r>(&self, registry: &'r Registry) -> Result<(&'r Method, Parameters), CoreError> {
        let method = registry.find(&self.method)?;
        let parameters = Parameters::parse(method, &self.parameters)?;
        Ok((method, parameters))
    }

    /// Whether these rows are a task of it. The numbers of rows come beside the request, without its seal:
    /// who sends one again that was overheard gets no sums of other rows, such as of a single one.
    pub(crate) fn has_task(&self, rows: &Range<u64>) -> bool {
        self.task_rows.is_multiple_of(BATCH_ROWS as u64)
            && rows.start.checked_rem(self.task_rows) == Some(0)
            && rows.start < self.n_rows
            && rows.end == self.n_rows.min(rows.start.saturating_add(self.task_rows))
    }

    /// The rows `rows` of the table here, or in one of the stores.
    pub(crate) fn rows(
        &self,
        (stores, last): (&Stores, &LastTable),
        (registry, needs_target): (&Registry, bool),
        rows: Range<u64>,
    ) -> Result<Rows, fewest::data::Error> {
        let (folder, files) = match self.objects.as_slice() {
            [] => {
                let folder = Folder::or_file(&self.table.path)?;
                let files = folder.parts().iter().map(|part| part.path().to_owned()).collect();
                (folder, files)
            }
            objects => (stores.folder(&self.table.path, objects)?, Vec::new()),
        };
        let options = self.table.options(registry, needs_target);
        let of = Of { table: self.table.clone(), objects: self.objects.clone(), files, needs_target };
        let Some(passes) = last.open(of, folder, &options)? else {
            let what = "a table of this format, read in parts".to_owned();
            return Err(fewest::data::Error::unsupported(&self.table.path, what, "write it as Parquet"));
        };
        let mut rows = passes.part(&self.known, rows)?;
        for _ in 0..self.pass.part {
            use fewest::core::SampleStream;
            rows.next_part()?;
        }
        Ok(rows)
    }
}

impl State for Request {
    fn save(&self, to: &mut Vec<u8>) {
        // What is known of the table says which rows are left out.
        let Table { path, target, task, ignore, categorical, missing: _ } = &self.table;
        path.display().to_string().save(to);
        (target.clone(), task.name().to_owned()).save(to);
        (ignore.clone(), categorical.clone()).save(to);
        self.objects.save(to);
        (self.method.clone(), self.parameters.clone()).save(to);
        (self.k, self.memory).save(to);
        (self.n_rows, self.task_rows).save(to);
        self.known.save(to);
        self.pass.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, CoreError> {
        let path: String = State::load(from)?;
        let (target, task): (_, String) = State::load(from)?;
        let (ignore, categorical) = State::load(from)?;
        let objects = State::load(from)?;
        let task = task.parse()?;
        let table = Table { path: path.into(), target, task, ignore, categorical, missing: Missing::Error };
        let (method, parameters) = State::load(from)?;
        let (k, memory) = State::load(from)?;
        let (n_rows, task_rows) = State::load(from)?;
        let (known, pass) = State::load(from)?;
        Ok(Self { table, objects, method, parameters, k, memory, known, n_rows, task_rows, pass })
    }
}

/// The bytes of a request of this version, signed with the secret.
pub(crate) fn sealed_request(request: &Request, version: &str, secret: &Secret) -> Vec<u8> {
    secret.sealed(&[], body(request, version))
}

/// The same without a signature.
pub(crate) fn body(request: &Request, version: &str) -> Vec<u8> {
    let mut body = Vec::new();
    version.to_owned().save(&mut body);
    request.save(&mut body);
    body
}

/// What an executor answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// The sums.
    Sums(Vec<u8>),
    /// What is wrong with the rows, in one line.
    Failed(String),
    /// It has this version, which is another.
    OtherVersion(String),
    /// The request is not signed with its secret.
    WrongSecret,
}

impl State for Reply {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Reply::Sums(sums) => {
                0_u8.save(to);
                sums.save(to);
            }
            Reply::Failed(message) => {
                1_u8.save(to);
                message.save(to);
            }
            Reply::OtherVersion(version) => {
                2_u8.save(to);
                version.save(to);
            }
            Reply::WrongSecret => 3_u8.save(to),
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, CoreError> {
        Ok(match u8::load(from)? {
            0 => Reply::Sums(State::load(from)?),
            1 => Reply::Failed(State::load(from)?),
            2 => Reply::OtherVersion(State::load(from)?),
            3 => Reply::WrongSecret,
            other => return Err(CoreError::parameter("reply", other, "0 to 3, as executors write")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_those_of_the_request() {
        let request = |n_rows, task_rows| Request {
            table: Table::default(),
            objects: Vec::new(),
            method: "f-score".to_owned(),
            parameters: Vec::new(),
            k: 1,
            memory: 1 << 20,
            known: Vec::new(),
            n_rows,
            task_rows,
            pass: AskedPass::default(),
        };
        let object =
            Object { name: "k=1/a.parquet".to_owned(), length: 1 << 40, version: "\"v\"".to_owned() };
        let asked = Request { objects: vec![object], ..request(20_000, 8192) };
        let objects = asked.objects.clone();
        let mut bytes = Vec::new();
        asked.save(&mut bytes);
        let asked = Request::load(&mut bytes.as_slice()).unwrap();
        assert_eq!(asked.objects, objects);
        for rows in [0..8192, 8192..16_384, 16_384..20_000] {
            assert!(asked.has_task(&rows), "{rows:?}");
        }
        let end = u64::MAX;
        for (first, end) in [
            (17, 18),
            (0, 1),
            (0, 4096),
            (4096, 8192),
            (4096, 12_288),
            (8192, 20_000),
            (16_384, 24_576),
            (19_999, 20_000),
            (20_000, 20_000),
            (24_576, 32_768),
            (8192, 0),
            (end, end),
        ] {
            assert!(!asked.has_task(&(first..end)), "{first} {end}");
        }
        // Who has no secret to seal a request with asks for whole batches, too.
        assert!(!request(20_000, 1).has_task(&(17..18)));
        assert!(!request(20_000, 0).has_task(&(0..0)));
    }
}
