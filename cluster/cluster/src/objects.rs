//! Tables in object stores: their addresses, what is listed of them, and what can go wrong.

use std::path::Path;

use fewest::core::state;

use crate::error::one_line;

/// How an address begins.
const SCHEME: &str = "s3://";

/// An object of a table, as it was when the command listed it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    /// Its name below the address; empty where the address is that of one object.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) length: u64,
    /// What the store calls this content (its ETag).
    pub(crate) version: String,
}

state!(Object { name, length, version });

/// Why an object store gives no table. Each message says what to do, and none has more of what the store
/// answers than a word: answers tell keys.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// An address of another kind.
    #[error(
        "an address is s3://BUCKET/KEY, of an object or of what its objects begin with, without empty \
         parts, `.` or `..`: give one, or a file"
    )]
    Address,
    /// The program cannot read object stores.
    #[error(
        "this fewest-cluster was built without the feature `s3`: build it, and the executors, with it, or copy the \
         table to the machines"
    )]
    NotBuilt,
    /// Settings that contradict each other, or that are none.
    #[error("the environment variables AWS_… are no settings of a store ({problem}): correct them")]
    Settings {
        /// What is wrong with them.
        problem: String,
    },
    /// No credentials.
    #[error(
        "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for this command and for each \
         executor, or AWS_SKIP_SIGNATURE=true where everybody may read"
    )]
    NoCredentials,
    /// The store refuses.
    #[error(
        "the store refuses access ({code}): check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
         AWS_SESSION_TOKEN and AWS_REGION of this command and of each executor, and that they may list and \
         read the bucket"
    )]
    Refused {
        /// The word of the store for it.
        code: String,
    },
    /// No such bucket.
    #[error("there is no bucket of this name: check it, and AWS_REGION and AWS_ENDPOINT_URL")]
    NoBucket,
    /// No such object.
    #[error("there is no object of this name, and none below it: check the key")]
    NoObject,
    /// A key that cannot be asked for as it is.
    #[error(
        "the key `{key}` has an empty part, `.`, `..` or a control character: copy the object to another key"
    )]
    Key {
        /// The key, with its control characters escaped.
        key: String,
    },
    /// More objects than a request to an executor should list.
    #[error(
        "there are more than {most} objects: write fewer, larger files, or name one of the folders in it"
    )]
    TooMany {
        /// The most.
        most: usize,
    },
    /// Another object than the one that was listed.
    #[error("the object has changed since it was listed: start again once nothing writes to it")]
    Changed,
    /// The store or the network failed.
    #[error(
        "the store gives no answer that can be used ({problem}): check AWS_ENDPOINT_URL, with AWS_ALLOW_HTTP=true where \
         that is not encrypted, or try again"
    )]
    Failed {
        /// What is known of it.
        problem: String,
    },
}

impl StoreFault {
    /// As the error of reading what has this name.
    pub(crate) fn reading(self, path: &Path) -> fewest::data::Error {
        fewest::data::Error::reading(Path::new(&self.place(path)), self.into())
    }

    /// An address as this message may print it: one that is refused may have credentials before an `@` or
    /// behind a `?`.
    pub(crate) fn place(&self, address: &Path) -> String {
        let text = address.display().to_string();
        if *self != Self::Address {
            return text;
        }
        let start = text.rfind('@').map_or(0, |at| at + 1);
        let end = text.find('?').unwrap_or(text.len());
        let before = if start > 0 { "…@" } else { "" };
        let behind = if end < text.len() { "?…" } else { "" };
        one_line(format_args!("{before}{}{behind}", text.get(start..end).unwrap_or_default()))
    }
}

impl From<StoreFault> for std::io::Error {
    fn from(fault: StoreFault) -> Self {
        Self::other(fault)
    }
}

/// Whether a path is an address.
pub(crate) fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains("://"))
}

/// The bucket and the key of an address. The key may be empty, or end in `/`.
pub(crate) fn bucket_and_key(address: &Path) -> Result<(&str, &str), StoreFault> {
    let text = address.to_str().and_then(|text| text.strip_prefix(SCHEME)).ok_or(StoreFault::Address)?;
    let (bucket, key) = text.split_once('/').unwrap_or((text, ""));
    let below = key.strip_suffix('/').unwrap_or(key);
    // Others would be left out of what is asked for, which would then be another object.
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    let is_key = key.is_empty() || below.split('/').all(is_part);
    match is_word(bucket) && !matches!(bucket, "." | "..") && is_key {
        true => Ok((bucket, key)),
        false => Err(StoreFault::Address),
    }
}

/// Whether a text is the name of a bucket or of a region: it becomes a part of an URL.
pub(crate) fn is_word(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    !text.is_empty() && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_bucket_and_a_key() {
        for (address, expected) in [
            ("s3://b/k", Ok(("b", "k"))),
            ("s3://b/a/k=1/", Ok(("b", "a/k=1/"))),
            ("s3://b", Ok(("b", ""))),
            ("s3:///k", Err(StoreFault::Address)),
            ("s3:///", Err(StoreFault::Address)),
            ("s3://b//x", Err(StoreFault::Address)),
            ("s3://b//", Err(StoreFault::Address)),
            ("s3://b/a//x", Err(StoreFault::Address)),
            ("s3://b/a/../x", Err(StoreFault::Address)),
            ("s3://b/a\nx", Err(StoreFault::Address)),
            ("s3://my bucket/k", Err(StoreFault::Address)),
            ("s3://../k", Err(StoreFault::Address)),
            ("s3://key:secret@b/k", Err(StoreFault::Address)),
            ("gs://b/k", Err(StoreFault::Address)),
        ] {
            assert!(is_address(Path::new(address)));
            assert_eq!(bucket_and_key(Path::new(address)), expected, "{address}");
        }
        assert!(!is_address(Path::new("folder/s3:file")));
    }

    #[test]
    fn refused_addresses_are_printed_without_credentials() {
        for (address, expected) in [
            ("s3://key:secret@b/k", "…@b/k"),
            ("s3://b:1/k?signature=secret", "s3://b:1/k?…"),
            ("s3://key:se?cret@b/k", "…@?…"),
        ] {
            assert_eq!(StoreFault::Address.place(Path::new(address)), expected);
        }
        assert_eq!(StoreFault::NoObject.place(Path::new("s3://b/k@1?x")), "s3://b/k@1?x");
    }
}
