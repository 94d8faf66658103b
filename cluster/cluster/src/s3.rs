//! Object stores that speak the protocol of S3.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use fewest::data::{Error as DataError, Folder, Remote};
use futures::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as Key;
use object_store::{
    Error as Fault, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig,
};
use tokio::runtime::Runtime;

use crate::error::one_line;
use crate::objects::{Object, StoreFault, bucket_and_key};

/// How often a request is tried again, and for how long.
const RETRIES: usize = 3;
const RETRY_TIME: Duration = Duration::from_secs(30);

/// Ranges with no more bytes between them are one request.
const GAP: u64 = 256 << 10;

/// Bytes of a request at most, and requests at a time.
const REQUEST: u64 = 16 << 20;
const AT_A_TIME: usize = 8;

/// Bytes at the start and at the end of an object that are fetched once: they tell its format, and where its
/// columns are, to each task anew.
const START: u64 = 4 << 10;
const END: u64 = 64 << 10;

/// The buckets that this process reads, with its own credentials.
#[derive(Default)]
pub(crate) struct Stores {
    buckets: Mutex<HashMap<String, Arc<Bucket>>>,
    /// The table that was read last, with the ends of its objects.
    last: Mutex<Option<(PathBuf, Vec<Object>, Folder)>>,
}

/// A bucket.
struct Bucket {
    store: AmazonS3,
    /// Whether it is read without credentials.
    is_open: bool,
}

impl Bucket {
    /// An error without credentials, which the store would not tell as such.
    async fn check(&self) -> Result<(), StoreFault> {
        match self.is_open {
            true => Ok(()),
            false => {
                let found = self.store.credentials().get_credential().await;
                found.map(drop).map_err(|_| StoreFault::NoCredentials)
            }
        }
    }
}

/// Says nothing of the stores, which know secrets.
impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stores")
    }
}

impl Stores {
    /// The objects of a table: that of this name, or else those below it.
    pub(crate) fn list(&self, address: &Path) -> Result<Vec<Object>, StoreFault> {
        let (bucket, key) = bucket_and_key(address)?;
        let bucket = self.bucket(bucket)?;
        let place = parsed(key)?;
        let may_be_one = !key.is_empty() && !key.ends_with('/');
        let listed = wait(async move {
            bucket.check().await?;
            let store = &bucket.store;
            if may_be_one {
                match store.head(&place).await {
                    Ok(found) => return Ok(vec![object(String::new(), found)?]),
                    Err(Fault::NotFound { .. }) => {}
                    Err(fault) => return Err(told(&fault)),
                }
            }
            let found: Vec<ObjectMeta> =
                store.list(Some(&place)).try_collect().await.map_err(|fault| told(&fault))?;
            let below = |found: ObjectMeta| {
                let name: Vec<String> =
                    found.location.prefix_match(&place)?.map(|part| part.as_ref().to_owned()).collect();
                // Programs that show folders make an empty object for each.
                (found.size > 0 && !name.is_empty()).then(|| object(name.join("/"), found))
            };
            found.into_iter().filter_map(below).collect::<Result<Vec<Object>, StoreFault>>()
        })??;
        if listed.is_empty() { Err(StoreFault::NoObject) } else { Ok(listed) }
    }

    /// The listed objects as the files of a table.
    pub(crate) fn folder(&self, address: &Path, objects: &[Object]) -> Result<Folder, DataError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, listed, folder)) = &*last
            && known == address
            && listed == objects
        {
            return Ok(folder.clone());
        }
        let (bucket, key) = bucket_and_key(address).map_err(|fault| fault.reading(address))?;
        let bucket = self.bucket(bucket).map_err(|fault| fault.reading(address))?;
        let remote = |object: &Object| {
            let (path, key) = match object.name.as_str() {
                "" => (address.to_owned(), key.to_owned()),
                name => (address.join(name), format!("{}/{name}", key.trim_end_matches('/'))),
            };
            let key = parsed(&key).map_err(|fault| fault.reading(&path))?;
            let (length, version) = (object.length, object.version.clone());
            let ends = [OnceLock::new(), OnceLock::new()];
            let remote: Arc<dyn Remote> =
                Arc::new(InStore { bucket: bucket.clone(), key, length, version, ends });
            Ok((object.name.clone(), remote))
        };
        let listed = objects.iter().map(remote).collect::<Result<Vec<_>, DataError>>()?;
        let folder = Folder::of_remote(address, listed)?;
        *last = Some((address.to_owned(), objects.to_vec(), folder.clone()));
        Ok(folder)
    }

    /// The bucket of this name, by the environment of this process.
    fn bucket(&self, name: &str) -> Result<Arc<Bucket>, StoreFault> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = buckets.get(name) {
            return Ok(known.clone());
        }
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIME, ..RetryConfig::default() };
        let settings = AmazonS3Builder::from_env().with_bucket_name(name).with_retry(retry);
        let skips = settings.get_config_value(&AmazonS3ConfigKey::SkipSignature);
        let is_open = skips.is_some_and(|value| value == "true");
        let store = settings.build().map_err(|fault| StoreFault::Settings { problem: cause(&fault) })?;
        let made = Arc::new(Bucket { store, is_open });
        buckets.insert(name.to_owned(), made.clone());
        Ok(made)
    }
}

fn parsed(key: &str) -> Result<Key, StoreFault> {
    Key::parse(key).map_err(|_| StoreFault::Address)
}

fn object(name: String, found: ObjectMeta) -> Result<Object, StoreFault> {
    let without = "it tells no ETag of an object";
    let version = found.e_tag.ok_or_else(|| StoreFault::Failed { problem: without.to_owned() })?;
    Ok(Object { name, length: found.size, version })
}

/// An object, as it was when it was listed.
struct InStore {
    bucket: Arc<Bucket>,
    key: Key,
    length: u64,
    version: String,
    ends: [OnceLock<Vec<u8>>; 2],
}

/// Says nothing of the store, which knows secrets.
impl fmt::Debug for InStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.key, self.length, self.version)
    }
}

impl Remote for InStore {
    fn length(&self) -> u64 {
        self.length
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.iter().any(|range| range.end > self.length || range.start > range.end) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let [range] = ranges
            && let Some((end, place)) = self.end_with(range)
        {
            if end.get().is_none() {
                let bytes = self.fetched(vec![place.clone()])?.into_iter().flat_map(|(_, bytes)| bytes);
                let _ = end.set(bytes.collect());
            }
            let known = end.get().map_or(&[][..], Vec::as_slice);
            let pieces = [(place.start, known)];
            return Ok(vec![cut_out(range, pieces.into_iter())?]);
        }
        let pieces = self.fetched(requests(ranges))?;
        let of = |range: &Range<u64>| {
            let first = pieces.partition_point(|(start, bytes)| start + bytes.len() as u64 <= range.start);
            cut_out(range, pieces.iter().skip(first).map(|(start, bytes)| (*start, &bytes[..])))
        };
        ranges.iter().map(of).collect()
    }
}

impl InStore {
    /// The end of the object that holds a range, and where it is.
    fn end_with(&self, range: &Range<u64>) -> Option<(&OnceLock<Vec<u8>>, Range<u64>)> {
        let [start, end] = &self.ends;
        let behind = self.length.saturating_sub(END);
        match range {
            range if range.start >= behind => Some((end, behind..self.length)),
            range if range.end <= START => Some((start, 0..START.min(self.length))),
            _ => None,
        }
    }

    /// The bytes of each request, in the order of the requests.
    fn fetched(&self, requests: Vec<Range<u64>>) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let (bucket, key, version) = (self.bucket.clone(), self.key.clone(), self.version.clone());
        let fetched = wait(async move {
            bucket.check().await?;
            let each = requests.into_iter().map(|range| {
                let options = GetOptions {
                    range: Some(GetRange::Bounded(range.clone())),
                    if_match: Some(version.clone()),
                    ..GetOptions::default()
                };
                let (store, key) = (&bucket.store, &key);
                async move {
                    let got = async { store.get_opts(key, options).await?.bytes().await };
                    let bytes = got.await.map_err(|fault| told(&fault))?;
                    match bytes.len() as u64 == range.end - range.start {
                        true => Ok((range.start, Vec::from(bytes))),
                        false => Err(StoreFault::Failed { problem: "it sends too few bytes".to_owned() }),
                    }
                }
            });
            futures::stream::iter(each).buffered(AT_A_TIME).try_collect::<Vec<_>>().await
        });
        let fetched: Vec<(u64, Vec<u8>)> = fetched??;
        Ok(fetched)
    }
}

/// Few requests for all of these ranges, in increasing order, none of them too large.
fn requests(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut().filter(|last| range.start <= last.end.saturating_add(GAP)) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    let pieces = |range: Range<u64>| {
        let starts = (0..(range.end - range.start).div_ceil(REQUEST)).map(move |i| range.start + i * REQUEST);
        starts.map(move |start| start..range.end.min(start + REQUEST))
    };
    joined.into_iter().flat_map(pieces).collect()
}

/// A range of bytes that come in pieces, each with its place.
fn cut_out<'a>(range: &Range<u64>, pieces: impl Iterator<Item = (u64, &'a [u8])>) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity((range.end - range.start) as usize);
    let mut at = range.start;
    for (start, bytes) in pieces {
        if at >= range.end {
            break;
        }
        let end = (range.end - start).min(bytes.len() as u64);
        let part = at.checked_sub(start).and_then(|from| bytes.get(from as usize..end as usize));
        let part = part.ok_or(io::ErrorKind::UnexpectedEof)?;
        out.extend_from_slice(part);
        at += part.len() as u64;
    }
    if at == range.end { Ok(out) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Waits for what threads of their own compute: tasks come on threads that may not wait by themselves.
fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, StoreFault> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        threads.map_err(|error| error.to_string())
    });
    let runtime = runtime.as_ref().map_err(|problem| StoreFault::Failed { problem: problem.clone() })?;
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Who does not wait any more needs no answer.
        let _ = sender.send(work.await);
    });
    receiver.recv().map_err(|_| StoreFault::Failed { problem: "a request was given up".to_owned() })
}

/// What a failed request means.
fn told(fault: &Fault) -> StoreFault {
    let text = fault.to_string();
    let code = code(&text);
    // A list that is refused has no error of its own.
    let is_refused = ["status code: 401", "status code: 403"].iter().any(|status| text.contains(status));
    match fault {
        _ if code.as_deref() == Some("NoSuchBucket") => StoreFault::NoBucket,
        Fault::NotFound { .. } => StoreFault::NoObject,
        Fault::Precondition { .. } => StoreFault::Changed,
        _ if is_refused => StoreFault::Refused { code: code.unwrap_or_else(|| "403".to_owned()) },
        _ => StoreFault::Failed { problem: code.unwrap_or_else(|| cause(fault)) },
    }
}

/// The word by which the store tells its reason. The rest of its answer may tell keys.
fn code(text: &str) -> Option<String> {
    let (code, _) = text.split_once("<Code>")?.1.split_once("</Code>")?;
    code.chars().all(|letter| letter.is_ascii_alphanumeric()).then(|| code.to_owned())
}

/// The innermost cause of an error, without addresses.
fn cause(fault: &Fault) -> String {
    let mut inner: &dyn std::error::Error = fault;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let line = one_line(inner);
    match line.contains("://") || line.contains('<') {
        true => "the request failed".to_owned(),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_and_cut_into_requests() {
        let near = requests(&[1_000_000..1_000_010, 0..10, 20..30, 5..5]);
        assert_eq!(near, [0..30, 1_000_000..1_000_010]);
        let one = 7..7 + 2 * REQUEST + 1;
        let long = requests(std::slice::from_ref(&one));
        let end = 7 + 2 * REQUEST;
        assert_eq!(long, [7..7 + REQUEST, 7 + REQUEST..end, end..end + 1]);
    }

    #[test]
    fn ranges_are_cut_out_of_pieces() {
        let pieces = || [(10, &[0_u8, 1, 2, 3][..]), (14, &[4, 5]), (90, &[6])].into_iter();
        assert_eq!(cut_out(&(11..16), pieces()).unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(cut_out(&(12..13), pieces()).unwrap(), [2]);
        assert!(cut_out(&(12..12), pieces()).unwrap().is_empty());
        assert!(cut_out(&(15..17), pieces()).is_err());
    }
}
