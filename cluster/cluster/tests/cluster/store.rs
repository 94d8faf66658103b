//! A store of objects that speaks as much of the protocol of S3 as the program does.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(crate) const KEY: &str = "KEYOFTHETEST";
pub(crate) const SECRET: &str = "a+secret/of+the+test";

/// Keys of one answer to a question for a list, and of a long one.
const PAGE: usize = 2;
const LONG_PAGE: usize = 1000;

const WRITTEN: &str = "Thu, 26 Nov 2026 12:00:00 GMT";

#[derive(Default)]
struct Bucket {
    objects: BTreeMap<String, Vec<u8>>,
    /// A part of the key of objects whose content ends too early.
    cut_off: Option<String>,
    /// A part of the key of objects that are others whenever they are read.
    changing: Option<String>,
    /// A part of the key of objects that are read whatever they should be, with an ETag of their own.
    careless: Option<String>,
    /// A part of the key of objects with more content than the answer should have.
    too_long: Option<String>,
    /// A part of the key of objects with an ETag of two lines in the list.
    odd: Option<String>,
    /// Parts of addresses whose answer is an error, with the status and the content.
    failing: Vec<(&'static str, &'static str, String)>,
    /// The method and the key of each request.
    asked: Vec<String>,
}

/// The bucket `bucket`, which listens until the test ends.
pub(crate) struct Store {
    port: u16,
    bucket: Arc<Mutex<Bucket>>,
}

impl Store {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let bucket = Arc::new(Mutex::new(Bucket::default()));
        let shared = bucket.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { port, bucket }
    }

    /// What a process needs to read it.
    pub(crate) fn environment(&self, key: &str) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ]
    }

    /// The same without credentials, but for a place that has none either.
    pub(crate) fn without_credentials(&self) -> Vec<(&'static str, String)> {
        let mut environment = self.environment(KEY);
        environment.truncate(2);
        environment.push(("AWS_METADATA_ENDPOINT", format!("http://127.0.0.1:{}/none", self.port)));
        environment
    }

    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) {
        self.bucket.lock().unwrap().objects.insert(key.to_owned(), bytes);
    }

    /// Puts a file, or each file of a folder.
    pub(crate) fn copy(&self, path: &Path, key: &str) {
        if path.is_file() {
            return self.put(key, std::fs::read(path).unwrap());
        }
        for entry in std::fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            self.copy(&entry.path(), &format!("{key}/{}", entry.file_name().to_str().unwrap()));
        }
    }

    pub(crate) fn cut_off(&self, part: &str) {
        self.bucket.lock().unwrap().cut_off = Some(part.to_owned());
    }

    pub(crate) fn change(&self, part: &str) {
        self.bucket.lock().unwrap().changing = Some(part.to_owned());
    }

    pub(crate) fn read_carelessly(&self, part: &str) {
        self.bucket.lock().unwrap().careless = Some(part.to_owned());
    }

    pub(crate) fn send_too_much(&self, part: &str) {
        self.bucket.lock().unwrap().too_long = Some(part.to_owned());
    }

    pub(crate) fn name_oddly(&self, part: &str) {
        self.bucket.lock().unwrap().odd = Some(part.to_owned());
    }

    pub(crate) fn fail(&self, part: &'static str, status: &'static str, content: &str) {
        self.bucket.lock().unwrap().failing.push((part, status, content.to_owned()));
    }

    /// The requests since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.bucket.lock().unwrap().asked)
    }
}

/// An answer: the status, headers, the content, and how many bytes of it are sent.
struct Answer {
    status: &'static str,
    headers: String,
    content: Vec<u8>,
    sent: usize,
}

impl Answer {
    fn new(status: &'static str, headers: String, content: Vec<u8>) -> Self {
        let sent = content.len();
        Self { status, headers, content, sent }
    }

    fn error(status: &'static str, code: &str) -> Self {
        let text = format!("<Error><Code>{code}</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId></Error>");
        Self::new(status, String::new(), text.into_bytes())
    }
}

fn answer(mut stream: TcpStream, bucket: &Mutex<Bucket>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let mut first = head.split(' ');
    let (method, target) = (first.next().unwrap(), first.next().unwrap());
    let answer = answered(&head, method, target, &mut bucket.lock().unwrap());
    let Answer { status, headers, content, sent } = answer;
    let length = content.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
    // Who asked may be gone.
    let _ = stream.write_all(head.as_bytes());
    if method != "HEAD" {
        let _ = stream.write_all(&content[..sent]);
    }
}

fn answered(head: &str, method: &str, target: &str, bucket: &mut Bucket) -> Answer {
    let header = |name: &str| {
        let line = head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}: ")))?;
        Some(line[name.len() + 2..].to_owned())
    };
    if !header("authorization").is_some_and(|line| line.contains(&format!("Credential={KEY}/"))) {
        return Answer::error("403 Forbidden", "InvalidAccessKeyId");
    }
    if let Some((_, status, content)) = bucket.failing.iter().find(|(part, ..)| target.contains(part)) {
        return Answer::new(status, String::new(), content.clone().into_bytes());
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = decoded(path);
    let Some(key) = path.strip_prefix("/bucket").filter(|key| key.is_empty() || key.starts_with('/')) else {
        return Answer::error("404 Not Found", "NoSuchBucket");
    };
    let key = key.trim_start_matches('/');
    bucket.asked.push(format!("{method} {key}"));
    if key.is_empty() {
        return list(query, bucket);
    }
    let Some(content) = bucket.objects.get(key) else { return Answer::error("404 Not Found", "NoSuchKey") };
    let is = |part: &Option<String>| part.as_ref().is_some_and(|part| key.contains(part.as_str()));
    let mut version = version(content);
    if is(&bucket.careless) {
        version = if header("if-match").is_some() { "\"another\"".to_owned() } else { version };
    } else if header("if-match").is_some_and(|wanted| wanted != version || is(&bucket.changing)) {
        return Answer::error("412 Precondition Failed", "PreconditionFailed");
    }
    let described = format!("ETag: {version}\r\nLast-Modified: {WRITTEN}\r\n");
    let Some(range) = header("range") else { return Answer::new("200 OK", described, content.clone()) };
    let (start, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let (start, end) = (start.parse::<usize>().unwrap(), last.parse::<usize>().unwrap() + 1);
    let Some(part) = content.get(start..end) else {
        return Answer::error("416 Range Not Satisfiable", "InvalidRange");
    };
    let described = format!("{described}Content-Range: bytes {start}-{last}/{}\r\n", content.len());
    let mut answer = Answer::new("206 Partial Content", described, part.to_vec());
    if is(&bucket.cut_off) {
        answer.sent /= 2;
    }
    if is(&bucket.too_long) {
        answer.content.extend(b"more");
        answer.sent = answer.content.len();
    }
    answer
}

fn list(query: &str, bucket: &Bucket) -> Answer {
    let parameter = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(found, _)| *found == name).map(|(_, value)| decoded(value)).next().unwrap_or_default()
    };
    let (prefix, after) = (parameter("prefix"), parameter("continuation-token"));
    let found = bucket.objects.iter().filter(|(key, _)| key.starts_with(&prefix) && **key > after);
    let found: Vec<(&String, &Vec<u8>)> = found.collect();
    let n_keys = if found.len() > 100 { LONG_PAGE } else { PAGE };
    let page: String = found
        .iter()
        .take(n_keys)
        .map(|(key, content)| {
            let is_odd = bucket.odd.as_ref().is_some_and(|part| key.contains(part.as_str()));
            let version = if is_odd { "two&#10;lines".to_owned() } else { version(content) };
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-26T12:00:00.000Z</LastModified>\
                 <ETag>{}</ETag><Size>{}</Size></Contents>",
                version.replace('"', "&quot;"),
                content.len()
            )
        })
        .collect();
    let next = match found.get(n_keys..) {
        Some([_, ..]) => format!("<NextContinuationToken>{}</NextContinuationToken>", found[n_keys - 1].0),
        _ => String::new(),
    };
    let text = format!("<?xml version=\"1.0\"?><ListBucketResult>{next}{page}</ListBucketResult>");
    Answer::new("200 OK", "Content-Type: application/xml\r\n".to_owned(), text.into_bytes())
}

/// What stands for a content.
fn version(content: &[u8]) -> String {
    let sum = content.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    format!("\"{sum:x}\"")
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out.push(char::from(u8::from_str_radix(&part[..2], 16).unwrap()));
        out += &part[2..];
    }
    out
}
