//! Object stores that speak the protocol of S3.

use std::collections::BTreeSet;
use std::error::Error as Cause;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use fewest::data::{Error as DataError, Folder, Remote};
use futures::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::{Error as KeyFault, Path as Key};
use object_store::{
    ClientConfigKey, Error as Fault, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt,
    RetryConfig,
};
use tokio::runtime::Runtime;

use crate::error::one_line;
use crate::objects::{Object, StoreFault, bucket_and_key, is_word};

/// How often a request is tried again, and until when: longer than one may take, so that one that took too
/// long is tried again, too.
const RETRIES: usize = 3;
const RETRY_TIME: Duration = Duration::from_secs(180);

/// How long a request and its answer may take.
const REQUEST_TIME: &str = "120 seconds";

/// Ranges with no more bytes between them are one request, if these bytes are no more than those wanted.
const GAP: u64 = 256 << 10;

/// Bytes of a request at most, and requests at a time. Slow links take such an answer in the time allowed.
const REQUEST: u64 = 4 << 20;
const AT_A_TIME: usize = 8;

/// Objects of a table at most: their list travels with each task.
const OBJECTS: usize = 10_000;

/// Letters of a key in a message at most, which is as long as the stores allow.
const KEY_LETTERS: usize = 1024;

/// Bytes at the start and at the end of an object that are fetched once: they tell its format, and where its
/// columns are, to each task anew.
const START: u64 = 4 << 10;
const END: u64 = 64 << 10;

/// The buckets that this process reads, with its own credentials.
#[derive(Default)]
pub(crate) struct Stores {
    /// The bucket that was read last.
    bucket: Mutex<Option<(String, Arc<Bucket>)>>,
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
            let mut one = None;
            if may_be_one {
                match store.head(&place).await {
                    Ok(found) => one = Some(found),
                    Err(Fault::NotFound { .. }) => {}
                    Err(fault) => return Err(told(&fault)),
                }
            }
            // An empty one may stand for a folder.
            if let Some(found) = one.take_if(|found| found.size > 0) {
                return Ok(vec![object(String::new(), found)?]);
            }
            let most = store.list(Some(&place)).take(OBJECTS + 1);
            let found: Vec<ObjectMeta> = most.try_collect().await.map_err(|fault| told(&fault))?;
            if found.len() > OBJECTS {
                return Err(StoreFault::TooMany { most: OBJECTS });
            }
            match (below(&place, found)?, one) {
                (listed, Some(found)) if listed.is_empty() => Ok(vec![object(String::new(), found)?]),
                (listed, _) => Ok(listed),
            }
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
            is_version(&object.version).map_err(|fault| fault.reading(address))?;
            let (path, key) = match object.name.as_str() {
                "" => (address.to_owned(), key.to_owned()),
                name => (address.join(name), format!("{}/{name}", key.trim_end_matches('/'))),
            };
            let key = parsed(&key).map_err(|fault| fault.reading(&path))?;
            let (length, version) = (object.length, object.version.clone());
            let listed = Arc::new(Listed { bucket: bucket.clone(), key, length, version });
            let remote: Arc<dyn Remote> =
                Arc::new(InStore { listed, ends: [OnceLock::new(), OnceLock::new()] });
            Ok((object.name.clone(), remote))
        };
        let listed = objects.iter().map(remote).collect::<Result<Vec<_>, DataError>>()?;
        let folder = Folder::of_remote(address, listed)?;
        *last = Some((address.to_owned(), objects.to_vec(), folder.clone()));
        Ok(folder)
    }

    /// The bucket of this name, by the environment of this process.
    fn bucket(&self, name: &str) -> Result<Arc<Bucket>, StoreFault> {
        let mut last = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, bucket)) = &*last
            && known == name
        {
            return Ok(bucket.clone());
        }
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIME, ..RetryConfig::default() };
        // One option by itself: all of them would replace what the environment says of the others.
        let time = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        let settings = AmazonS3Builder::from_env()
            .with_bucket_name(name)
            .with_retry(retry)
            .with_config(time, REQUEST_TIME);
        check(&settings)?;
        let skips = settings.get_config_value(&AmazonS3ConfigKey::SkipSignature).unwrap_or_default();
        let is_open = matches!(skips.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes" | "y");
        let store = settings.build().map_err(|fault| StoreFault::Settings { problem: cause(&fault) })?;
        let made = Arc::new(Bucket { store, is_open });
        *last = Some((name.to_owned(), made.clone()));
        Ok(made)
    }
}

/// An error for settings that no request can be made of. It never tells them: they may be secret.
fn check(settings: &AmazonS3Builder) -> Result<(), StoreFault> {
    let is_printed = |text: &str| !text.contains(char::is_control);
    let is_visible = |text: &str| text.chars().all(|letter| letter.is_ascii_graphic());
    let is_region = |text: &str| text.is_empty() || is_word(text);
    let (control, other) = ("has a control character", "has a character that cannot be in it");
    type Holds<'a> = &'a dyn Fn(&str) -> bool;
    let all: [(&str, AmazonS3ConfigKey, Holds<'_>, &str); 6] = [
        ("AWS_ACCESS_KEY_ID", AmazonS3ConfigKey::AccessKeyId, &is_printed, control),
        ("AWS_SECRET_ACCESS_KEY", AmazonS3ConfigKey::SecretAccessKey, &is_printed, control),
        ("AWS_SESSION_TOKEN", AmazonS3ConfigKey::Token, &is_printed, control),
        ("AWS_REGION", AmazonS3ConfigKey::Region, &is_region, other),
        ("AWS_ENDPOINT_URL", AmazonS3ConfigKey::Endpoint, &is_visible, other),
        ("AWS_ENDPOINT_URL_S3", AmazonS3ConfigKey::S3Endpoint, &is_visible, other),
    ];
    for (name, key, holds, problem) in all {
        if settings.get_config_value(&key).is_some_and(|value| !holds(&value)) {
            return Err(StoreFault::Settings { problem: format!("{name} {problem}") });
        }
    }
    Ok(())
}

fn parsed(key: &str) -> Result<Key, StoreFault> {
    Key::parse(key).map_err(|_| StoreFault::Address)
}

/// The listed objects below a place, but for those that only show folders.
fn below(place: &Key, found: Vec<ObjectMeta>) -> Result<Vec<Object>, StoreFault> {
    let name = |found: ObjectMeta| {
        let parts: Vec<String> =
            found.location.prefix_match(place)?.map(|part| part.as_ref().to_owned()).collect();
        Some((parts.join("/"), found))
    };
    let named: Vec<(String, ObjectMeta)> = found.into_iter().filter_map(name).collect();
    let names: BTreeSet<String> = named.iter().map(|(name, _)| name.clone()).collect();
    // Programs that show folders make an empty object for each. Another empty one is a part that is missing.
    let is_folder = |name: &str| {
        let inside = format!("{name}/");
        let next = names.range(inside.clone()..).next();
        name.is_empty() || name.ends_with("_$folder$") || next.is_some_and(|next| next.starts_with(&inside))
    };
    let parts = named.into_iter().filter(|(name, found)| found.size > 0 || !is_folder(name));
    parts
        .map(|(name, found)| match name.is_empty() {
            true => Err(StoreFault::Key { key: shown(&format!("{place}/")) }),
            false => object(name, found),
        })
        .collect()
}

fn object(name: String, found: ObjectMeta) -> Result<Object, StoreFault> {
    let without = "it tells no ETag of an object";
    let version = found.e_tag.ok_or_else(|| StoreFault::Failed { problem: without.to_owned() })?;
    is_version(&version)?;
    Ok(Object { name, length: found.size, version })
}

/// An error for an ETag that no request can name.
fn is_version(version: &str) -> Result<(), StoreFault> {
    match !version.is_empty() && version.chars().all(|letter| letter.is_ascii_graphic()) {
        true => Ok(()),
        false => {
            Err(StoreFault::Failed { problem: "an ETag is none of visible ASCII characters".to_owned() })
        }
    }
}

/// A key in one line.
fn shown(key: &str) -> String {
    key.escape_debug().take(KEY_LETTERS).collect()
}

/// An object, as it was when it was listed.
struct Listed {
    bucket: Arc<Bucket>,
    key: Key,
    length: u64,
    version: String,
}

/// The bytes of an object.
struct InStore {
    listed: Arc<Listed>,
    ends: [OnceLock<Vec<u8>>; 2],
}

/// Says nothing of the store, which knows secrets.
impl fmt::Debug for InStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Listed { key, length, version, .. } = &*self.listed;
        write!(f, "{key} {length} {version}")
    }
}

impl Remote for InStore {
    fn length(&self) -> u64 {
        self.listed.length
    }

    fn version(&self) -> &str {
        &self.listed.version
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.iter().any(|range| range.end > self.listed.length || range.start > range.end) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // No request can ask for no bytes.
        if ranges.iter().all(Range::is_empty) {
            return Ok(vec![Vec::new(); ranges.len()]);
        }
        if let [range] = ranges
            && let Some((end, place)) = self.end_with(range)
        {
            if end.get().is_none() {
                let bytes = self.fetched(vec![place.clone()])?.into_iter().flatten();
                let _ = end.set(bytes.collect());
            }
            let (from, to) = ((range.start - place.start) as usize, (range.end - place.start) as usize);
            let known = end.get().and_then(|bytes| bytes.get(from..to));
            return Ok(vec![known.ok_or(io::ErrorKind::UnexpectedEof)?.to_vec()]);
        }
        self.fetched(ranges.to_vec())
    }
}

impl InStore {
    /// The end of the object that holds a range, and where it is.
    fn end_with(&self, range: &Range<u64>) -> Option<(&OnceLock<Vec<u8>>, Range<u64>)> {
        let [start, end] = &self.ends;
        let length = self.listed.length;
        let behind = length.saturating_sub(END);
        match range {
            range if range.start >= behind => Some((end, behind..length)),
            range if range.end <= START => Some((start, 0..START.min(length))),
            _ => None,
        }
    }

    /// The bytes of each range. An answer is dropped once they are cut out of it.
    fn fetched(&self, ranges: Vec<Range<u64>>) -> io::Result<Vec<Vec<u8>>> {
        let listed = self.listed.clone();
        let fetched = wait(async move {
            listed.bucket.check().await?;
            let each = requests(&ranges).into_iter().map(|range| {
                let listed = listed.clone();
                async move { listed.answer(range).await }
            });
            let mut answers = futures::stream::iter(each).buffered(AT_A_TIME);
            let mut cut = Cut::new(ranges);
            while let Some((start, bytes)) = answers.try_next().await? {
                cut.add(start, &bytes)?;
            }
            Ok::<_, StoreFault>(cut.out)
        });
        Ok(fetched??)
    }
}

impl Listed {
    /// The bytes of a range, and where they are. Not every store heeds the condition of a request, so that
    /// the answer is compared, too.
    async fn answer(&self, range: Range<u64>) -> Result<(u64, Vec<u8>), StoreFault> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: Some(self.version.clone()),
            ..GetOptions::default()
        };
        let got = self.bucket.store.get_opts(&self.key, options).await.map_err(|fault| told(&fault))?;
        let version = got.meta.e_tag.as_deref().unwrap_or_default();
        // Some stores list it without its quotes.
        if version.trim_matches('"') != self.version.trim_matches('"') || got.meta.size != self.length {
            return Err(StoreFault::Changed);
        }
        let length = (range.end - range.start) as usize;
        let mut bytes = Vec::with_capacity(length);
        let mut content = got.into_stream();
        while let Some(more) = content.try_next().await.map_err(|fault| told(&fault))? {
            if more.len() > length - bytes.len() {
                return Err(StoreFault::Failed { problem: "it sends too many bytes".to_owned() });
            }
            bytes.extend_from_slice(&more);
        }
        match bytes.len() == length {
            true => Ok((range.start, bytes)),
            false => Err(StoreFault::Failed { problem: "it sends too few bytes".to_owned() }),
        }
    }
}

/// Few requests for all of these ranges, in increasing order, none of them too large, and with at most twice
/// the bytes wanted.
fn requests(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    // With the bytes wanted of each.
    let mut joined: Vec<(Range<u64>, u64)> = Vec::new();
    for range in sorted {
        let own = range.end - range.start;
        if let Some((last, wanted)) = joined.last_mut() {
            let more = *wanted + range.end.saturating_sub(range.start.max(last.end));
            let end = last.end.max(range.end);
            if range.start <= last.end.saturating_add(GAP) && end - last.start <= more.saturating_mul(2) {
                (last.end, *wanted) = (end, more);
                continue;
            }
        }
        joined.push((range, own));
    }
    let pieces = |(range, _): (Range<u64>, u64)| {
        let starts = (0..(range.end - range.start).div_ceil(REQUEST)).map(move |i| range.start + i * REQUEST);
        starts.map(move |start| start..range.end.min(start + REQUEST))
    };
    joined.into_iter().flat_map(pieces).collect()
}

/// Ranges that are cut out of answers, which come in increasing order.
struct Cut {
    /// The ranges by their starts, with their numbers.
    ranges: Vec<(usize, Range<u64>)>,
    /// So many of them are complete.
    done: usize,
    /// The bytes of each.
    out: Vec<Vec<u8>>,
}

impl Cut {
    fn new(ranges: Vec<Range<u64>>) -> Self {
        let out = vec![Vec::new(); ranges.len()];
        let mut ranges: Vec<(usize, Range<u64>)> = ranges.into_iter().enumerate().collect();
        ranges.sort_by_key(|(_, range)| range.start);
        Self { ranges, done: 0, out }
    }

    /// Copies what the next answer has of each range.
    fn add(&mut self, start: u64, bytes: &[u8]) -> Result<(), StoreFault> {
        let end = start + bytes.len() as u64;
        let left = self.ranges.iter().skip(self.done);
        self.done += left.take_while(|(_, range)| range.end <= start).count();
        let left = self.ranges.iter().skip(self.done);
        for (number, range) in left.take_while(|(_, range)| range.start < end) {
            let (from, to) = (range.start.max(start), range.end.min(end));
            let Some(out) = self.out.get_mut(*number).filter(|_| from < to) else { continue };
            if out.is_empty() {
                let whole = usize::try_from(range.end - range.start).ok();
                let is_there = whole.is_some_and(|whole| out.try_reserve_exact(whole).is_ok());
                let problem = "more than this machine has memory for";
                let fault = || StoreFault::Failed { problem: problem.to_owned() };
                is_there.then_some(()).ok_or_else(fault)?;
            }
            out.extend_from_slice(
                bytes.get((from - start) as usize..(to - start) as usize).unwrap_or_default(),
            );
        }
        Ok(())
    }
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
    if let Fault::InvalidPath {
        source: KeyFault::EmptySegment { path } | KeyFault::BadSegment { path, .. },
    } = fault
    {
        return StoreFault::Key { key: shown(path) };
    }
    let Answered { status, code } = answered(fault);
    match (fault, code.as_deref()) {
        (_, Some("NoSuchBucket")) => return StoreFault::NoBucket,
        (Fault::NotFound { .. }, _) => return StoreFault::NoObject,
        (Fault::Precondition { .. }, _) => return StoreFault::Changed,
        _ => {}
    }
    // Other regions redirect, and tell nothing more to who asks for no content.
    let is_refused = matches!(status.as_deref(), Some("301" | "307" | "308" | "400" | "401" | "403"));
    match (status, code) {
        // The length that was listed has these bytes.
        (Some(status), _) if status == "416" => StoreFault::Changed,
        (_, Some(code)) if is_refused || code == "ExpiredToken" => StoreFault::Refused { code },
        (Some(status), None) if is_refused => StoreFault::Refused { code: status },
        (Some(status), Some(code)) => StoreFault::Failed { problem: format!("status {status}, {code}") },
        (Some(status), None) => StoreFault::Failed { problem: format!("status {status}") },
        (None, Some(code)) => StoreFault::Failed { problem: code },
        (None, None) => StoreFault::Failed { problem: without_answer(fault).to_owned() },
    }
}

/// What may be told of an answer: the rest may have keys in it, and whatever else the server likes.
#[derive(Default)]
struct Answered {
    status: Option<String>,
    /// The word by which the store tells its reason.
    code: Option<String>,
}

/// What the answer was, where there was one. The errors that know it are private, but for their texts.
fn answered(fault: &Fault) -> Answered {
    for cause in causes(fault) {
        let text = cause.to_string();
        if let Some(answer) = text.strip_prefix("Server returned non-2xx status code: ") {
            let status = answer.get(..3).filter(|status| status.bytes().all(|digit| digit.is_ascii_digit()));
            return Answered { status: status.map(str::to_owned), code: code(answer) };
        }
        if let Some(answer) = text.strip_prefix("Server returned error response: ") {
            return Answered { status: None, code: code(answer) };
        }
        if text.starts_with("Received redirect without LOCATION") {
            return Answered { status: Some("301".to_owned()), code: None };
        }
    }
    Answered::default()
}

fn code(answer: &str) -> Option<String> {
    let (code, _) = answer.split_once("<Code>")?.1.split_once("</Code>")?;
    let is_word = (1..=64).contains(&code.len()) && code.bytes().all(|letter| letter.is_ascii_alphanumeric());
    is_word.then(|| code.to_owned())
}

/// Why there was no answer.
fn without_answer(fault: &Fault) -> &'static str {
    let failed = causes(fault).find_map(|cause| cause.downcast_ref::<HttpError>());
    match failed.map(HttpError::kind) {
        Some(HttpErrorKind::Connect) => "there is no connection",
        Some(HttpErrorKind::Timeout) => "it takes too long",
        Some(HttpErrorKind::Interrupted) => "the connection ended",
        Some(_) => "the request failed",
        None => "it sends something else",
    }
}

/// An error and its causes.
fn causes(fault: &Fault) -> impl Iterator<Item = &(dyn Cause + 'static)> {
    std::iter::successors(Some(fault as &(dyn Cause + 'static)), |&error| error.source())
}

/// Why settings are none, without addresses.
fn cause(fault: &Fault) -> String {
    let line = causes(fault).last().map(one_line).unwrap_or_default();
    match line.contains("://") {
        true => "an address is none".to_owned(),
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
        assert_eq!(requests(&[0..10, 31..41, 32..33]), [0..10, 31..41]);
        assert_eq!(requests(&[0..100, 10..20, 200..201, 205..206]), [0..201, 205..206]);
        assert_eq!(requests(&[0..2 * GAP, 3 * GAP..4 * GAP, 5 * GAP + 1..9 * GAP]).len(), 2);
        let one = 7..7 + 2 * REQUEST + 1;
        let long = requests(std::slice::from_ref(&one));
        let end = 7 + 2 * REQUEST;
        assert_eq!(long, [7..7 + REQUEST, 7 + REQUEST..end, end..end + 1]);
    }

    #[test]
    fn ranges_are_cut_out_of_answers() {
        let mut cut = Cut::new(vec![90..91, 11..16, 12..13, 12..12, 15..16, 14..15]);
        for (start, bytes) in [(10, &[0_u8, 1, 2, 3][..]), (14, &[4, 5]), (90, &[6])] {
            cut.add(start, bytes).unwrap();
        }
        assert_eq!(cut.out, [&[6][..], &[1, 2, 3, 4, 5], &[2], &[], &[5], &[4]]);
    }

    #[test]
    fn empty_objects_are_parts_unless_they_show_folders() {
        let found = |(key, size): (&str, u64)| ObjectMeta {
            location: Key::parse(key).unwrap(),
            last_modified: Default::default(),
            size,
            e_tag: Some("\"1\"".to_owned()),
            version: None,
        };
        let of = |keys: &[(&str, u64)]| below(&Key::from("t"), keys.iter().copied().map(found).collect());
        let listed =
            of(&[("t/", 0), ("t/a", 0), ("t/a-b", 0), ("t/a/x", 1), ("t/c_$folder$", 0), ("t/d", 0)]);
        let names: Vec<String> = listed.unwrap().into_iter().map(|object| object.name).collect();
        assert_eq!(names, ["a-b", "a/x", "d"]);
        assert_eq!(of(&[("t/", 1)]), Err(StoreFault::Key { key: "t/".to_owned() }));
    }

    #[test]
    fn etags_are_visible() {
        for (version, holds) in
            [("\"ab-1\"", true), ("W/\"1\"", true), ("", false), ("a\nb", false), ("é", false)]
        {
            assert_eq!(is_version(version).is_ok(), holds, "{version:?}");
        }
    }

    #[test]
    fn only_words_of_an_answer_are_codes() {
        assert_eq!(code("x<Code>SlowDown</Code>").as_deref(), Some("SlowDown"));
        for none in
            ["<Code></Code>", "<Code>a b</Code>", "SlowDown", &format!("<Code>{}</Code>", "a".repeat(65))]
        {
            assert_eq!(code(none), None);
        }
    }
}
