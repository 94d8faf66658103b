//! Tables in object stores.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use datafusion::arrow::ipc::writer::FileWriter;

use crate::processes::{Machines, error};
use crate::store::{KEY, SECRET, Store};
use crate::tables::{Rows, comparable};

const ARGUMENTS: [&str; 6] = ["--method", "f-score", "--target", "class", "--ignore", "real"];
const METHODS: [&str; 3] = ["f-score", "mrmr", "hsic-lasso"];

fn arguments(method: &str) -> Vec<&str> {
    ["--method", method, "--target", "class", "--ignore", "real", "-k", "6", "--tasks", "3"].to_vec()
}

fn address(key: &str) -> PathBuf {
    Path::new("s3://bucket").join(key)
}

/// The line of a command that fails, which tells no secret.
#[track_caller]
fn told(machines: &Machines, path: &Path, arguments: &[&str]) -> String {
    let told = error(&machines.select(path, arguments));
    assert!(!told.contains(SECRET) && !told.contains(KEY), "{told}");
    told
}

#[test]
fn objects_give_the_document_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let rows = Rows::new(20_011);
    let (whole, parts) = (rows.write(folder.path(), 1), rows.write(folder.path(), 3));
    let arrow = folder.path().join("whole.arrow");
    let batch = rows.batch(0..rows.len());
    let mut writer = FileWriter::try_new(std::fs::File::create(&arrow).unwrap(), &batch.schema()).unwrap();
    for first in (0..rows.len()).step_by(5000) {
        writer.write(&batch.slice(first, (rows.len() - first).min(5000))).unwrap();
    }
    writer.finish().unwrap();
    let keyed = folder.path().join("keyed");
    for (key, part) in ["month=1", "month=2"].iter().zip(["part-00.parquet", "part-01.parquet"]) {
        std::fs::create_dir_all(keyed.join(key)).unwrap();
        std::fs::copy(parts.join(part), keyed.join(key).join(part)).unwrap();
    }

    let store = Store::start();
    store.copy(&whole, "tables/whole.parquet");
    store.copy(&arrow, "tables/whole.arrow");
    store.copy(&parts, "tables/parts");
    store.copy(&keyed, "tables/keyed");
    // What programs put beside data, and another table whose name begins like this one's.
    store.put("tables/parts", Vec::new());
    store.put("tables/parts/", Vec::new());
    store.put("tables/keyed/month=1/", Vec::new());
    store.put("tables/keyed/month=1_$folder$", Vec::new());
    store.put("tables/parts/_SUCCESS", b"done".to_vec());
    store.put("tables/parts-of-another/x.parquet", b"no table".to_vec());

    let mut machines = Machines::start(0, &[]);
    machines.environment = store.environment(KEY);
    for _ in 0..2 {
        machines.join(&[]);
        for method in METHODS {
            for (local, key) in [(&whole, "tables/whole.parquet"), (&parts, "tables/parts")] {
                let expected = machines.json(local, &arguments(method));
                store.asked();
                let found = machines.json(&address(key), &arguments(method));
                assert_eq!(found["data"]["file"], format!("s3://bucket/{key}"));
                assert_eq!(comparable(found), comparable(expected), "{method} {key}");
                // Some for the command and each executor, and one for each part, task and pass.
                let asked = store.asked();
                assert!(asked.len() < 60, "{method} {key}: {} {asked:?}", asked.len());
                assert!(asked.iter().all(|asked| !asked.contains("another")), "{asked:?}");
            }
        }
    }
    for (local, key) in [(&arrow, "tables/whole.arrow"), (&keyed, "tables/keyed/"), (&parts, "tables/parts/")]
    {
        let expected = machines.json(local, &arguments("mrmr"));
        let found = machines.json(&address(key), &arguments("mrmr"));
        assert_eq!(comparable(found), comparable(expected), "{key}");
    }
}

#[test]
fn finished_passes_are_those_of_the_same_objects() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::start();
    store.copy(&Rows::new(9000).write(folder.path(), 1), "a.parquet");
    let mut machines = Machines::start(0, &[]);
    machines.environment = store.environment(KEY);
    machines.join(&[]);
    let kept = folder.path().join("kept");
    let resume = [&ARGUMENTS[..], &["--resume", kept.to_str().unwrap()]].concat();
    let n_kept = || std::fs::read_dir(&kept).unwrap().count();
    let first = machines.json(&address("a.parquet"), &resume);
    assert_eq!(n_kept(), 1);
    let again = machines.json(&address("a.parquet"), &resume);
    assert_eq!((comparable(first), n_kept()), (comparable(again), 1));
    store.copy(&Rows::new(9001).write(folder.path(), 1), "a.parquet");
    machines.json(&address("a.parquet"), &resume);
    assert_eq!(n_kept(), 2);
}

#[test]
fn what_a_store_does_not_give_is_told_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let rows = Rows::new(9000);
    let (whole, parts) = (rows.write(folder.path(), 1), rows.write(folder.path(), 3));
    let store = Store::start();
    for key in ["whole.parquet", "short.parquet", "other.parquet"] {
        store.copy(&whole, key);
    }
    store.copy(&parts, "parts");
    let bytes = std::fs::read(&whole).unwrap();
    store.put("cut/part-00.parquet", bytes[..bytes.len() / 2].to_vec());
    store.put("text.csv", b"x,class\n1,a\n2,b\n".to_vec());
    store.cut_off("short");
    store.change("other");
    let mut machines = Machines::start(0, &[]);
    machines.environment = store.environment(KEY);
    let started = Instant::now();
    for (path, words) in [
        ("s3://bucket/none.parquet", &["s3://bucket/none.parquet", "no object of this name"][..]),
        ("s3://bucket/part", &["no object of this name"]),
        ("s3://nowhere/whole.parquet", &["s3://nowhere", "no bucket of this name", "AWS_REGION"]),
        ("s3://bucket/short.parquet", &["s3://bucket/short.parquet", "cannot be read", "no answer"]),
        ("s3://bucket/cut", &["s3://bucket/cut/part-00.parquet", "Parquet file cannot be read"]),
        ("s3://bucket/other.parquet", &["s3://bucket/other.parquet", "has changed since it was listed"]),
        ("s3://bucket/text.csv", &["text.csv", "write it as Parquet"]),
        ("gs://bucket/whole.parquet", &["s3://BUCKET/KEY"]),
        ("s3://", &["s3://BUCKET/KEY"]),
    ] {
        let told = told(&machines, Path::new(path), &ARGUMENTS);
        assert!(words.iter().all(|word| told.contains(word)), "{path}: {told}");
    }
    let whole = address("whole.parquet");
    machines.environment = store.environment("ANOTHERKEY");
    let refused = told(&machines, &whole, &ARGUMENTS);
    assert!(
        refused.contains("refuses access (403)") && refused.contains("AWS_SECRET_ACCESS_KEY"),
        "{refused}"
    );
    let refused = told(&machines, &address("parts/"), &ARGUMENTS);
    assert!(refused.contains("refuses access (InvalidAccessKeyId)"), "{refused}");
    machines.environment = store.without_credentials();
    let none = told(&machines, &whole, &ARGUMENTS);
    assert!(none.contains("no credentials were found: set AWS_ACCESS_KEY_ID"), "{none}");
    machines.environment = store.environment(KEY);
    machines.environment.push(("AWS_ENDPOINT_URL", "http://127.0.0.1:1".to_owned()));
    let nobody = told(&machines, &whole, &ARGUMENTS);
    assert!(nobody.contains("no answer") && nobody.contains("AWS_ENDPOINT_URL"), "{nobody}");

    // An executor with other credentials than those of the command.
    machines.environment = store.environment("ANOTHERKEY");
    machines.join(&[]);
    machines.environment = store.environment(KEY);
    let there = told(&machines, &whole, &ARGUMENTS);
    assert!(there.contains("s3://bucket/whole.parquet") && there.contains("refuses access"), "{there}");
    let mut machines = Machines::start(0, &[]);
    machines.environment = store.without_credentials();
    machines.join(&[]);
    machines.environment = store.environment(KEY);
    let without = told(&machines, &whole, &ARGUMENTS);
    assert!(without.contains("no credentials were found") && without.contains("each executor"), "{without}");
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
}

#[test]
fn answers_that_are_not_what_was_listed_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let rows = Rows::new(9000);
    let (whole, parts) = (rows.write(folder.path(), 1), rows.write(folder.path(), 3));
    let store = Store::start();
    for key in ["careless.parquet", "long.parquet", "odd/x.parquet"] {
        store.copy(&whole, key);
    }
    store.copy(&parts, "gap");
    store.put("gap/part-03.parquet", Vec::new());
    store.put("empty.parquet", Vec::new());
    store.put("parts/a//b.parquet", b"x".to_vec());
    store.put("dots/../b.parquet", b"x".to_vec());
    for number in 0..=10_000 {
        store.put(&format!("many/{number}.parquet"), b"x".to_vec());
    }
    store.read_carelessly("careless");
    store.send_too_much("long");
    store.name_oddly("odd");
    let private = "<Error><Code>not a word</Code><Message>PRIVATE</Message></Error>";
    store.fail("gone", "410 Gone", private);
    store.fail("wrong", "409 Conflict", "<Error><Code>Another</Code><Message>PRIVATE</Message></Error>");
    store.fail("moved", "301 Moved Permanently", private);
    store.fail("expired", "400 Bad Request", "<Error><Code>ExpiredToken</Code>PRIVATE</Error>");
    store.fail("region", "400 Bad Request", private);
    let mut machines = Machines::start(0, &[]);
    machines.environment = store.environment(KEY);
    let advice = ["refuses access", "AWS_REGION", "AWS_SESSION_TOKEN"];
    for (path, words) in [
        ("s3://bucket/careless.parquet", &["careless.parquet", "has changed since it was listed"][..]),
        ("s3://bucket/long.parquet", &["long.parquet", "sends too many bytes"]),
        ("s3://bucket/odd", &["s3://bucket/odd", "an ETag is none of visible ASCII"]),
        ("s3://bucket/gap", &["s3://bucket/gap/part-03.parquet", "Parquet file cannot be read"]),
        ("s3://bucket/empty.parquet", &["s3://bucket/empty.parquet", "the file is empty"]),
        ("s3://bucket/parts", &["the key `parts/a//b.parquet`", "copy the object to another key"]),
        ("s3://bucket/dots/", &["the key `dots/../b.parquet`", "copy the object to another key"]),
        ("s3://bucket/many", &["more than 10000 objects", "write fewer, larger files"]),
        ("s3://bucket/gone/", &["no answer that can be used (status 410)"]),
        ("s3://bucket/wrong", &["no answer that can be used (status 409"]),
        ("s3://bucket/wrong/", &["no answer that can be used (status 409, Another)"]),
        ("s3://bucket/moved", &["(301)", advice[0], advice[1], advice[2]]),
        ("s3://bucket/moved/", &["(301)", advice[0], advice[1], advice[2]]),
        ("s3://bucket/expired/", &["(ExpiredToken)", advice[0], advice[1], advice[2]]),
        ("s3://bucket/region", &["(400)", advice[0], advice[1], advice[2]]),
        ("s3://bucket//whole.parquet", &["s3://bucket//whole.parquet", "without empty parts"]),
        ("s3://my bucket/k", &["s3://my bucket/k", "s3://BUCKET/KEY"]),
        ("s3://name:PRIVATE@bucket/k", &["…@bucket/k: an address is"]),
        ("https://bucket/k?signature=PRIVATE", &["https://bucket/k?…: an address is"]),
    ] {
        let told = told(&machines, Path::new(path), &ARGUMENTS);
        assert!(words.iter().all(|word| told.contains(word)), "{path}: {told}");
        assert!(!told.contains("PRIVATE"), "{path}: {told}");
    }
}

#[test]
fn settings_that_are_none_are_told_without_their_values() {
    let store = Store::start();
    store.put("x.parquet", b"x".to_vec());
    let mut machines = Machines::start(0, &[]);
    for (name, value, words) in [
        ("AWS_ACCESS_KEY_ID", format!("{KEY}\n"), "AWS_ACCESS_KEY_ID has a control character"),
        ("AWS_SECRET_ACCESS_KEY", format!("{SECRET}\n"), "AWS_SECRET_ACCESS_KEY has a control character"),
        ("AWS_SESSION_TOKEN", format!("{SECRET}\r"), "AWS_SESSION_TOKEN has a control character"),
        ("AWS_REGION", "eu central".to_owned(), "AWS_REGION has a character"),
        ("AWS_ENDPOINT_URL", format!("http://{SECRET}@a b"), "AWS_ENDPOINT_URL has a character"),
    ] {
        machines.environment = store.environment(KEY);
        machines.environment.push((name, value));
        let told = told(&machines, &address("x.parquet"), &ARGUMENTS);
        assert!(told.contains(words) && told.contains("correct them"), "{told}");
    }
    for yes in ["1", "True", "yes", "on"] {
        machines.environment = store.without_credentials();
        machines.environment.push(("AWS_SKIP_SIGNATURE", yes.to_owned()));
        let told = told(&machines, &address("x.parquet"), &ARGUMENTS);
        assert!(told.contains("refuses access"), "{yes}: {told}");
    }
}
