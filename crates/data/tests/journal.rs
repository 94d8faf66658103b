//! Journals: what a kill, an editor and a second process do to them.

use std::fs;
use std::path::Path;

use fewest_data::{Error, Journal};

fn objects() -> Vec<String> {
    (0..5).map(|i| format!("{{\"step\":{i},\"text\":\"{}\"}}", "x".repeat(i * 40_000))).collect()
}

fn written(path: &Path) -> (Journal, Vec<u8>) {
    let journal = Journal::new(path);
    objects().iter().for_each(|object| journal.append(object).unwrap());
    (journal, fs::read(path).unwrap())
}

#[test]
fn a_line_is_there_as_soon_as_it_was_appended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.json");
    let journal = Journal::new(&path);
    for (at, object) in objects().iter().enumerate() {
        journal.append(object).unwrap();
        assert_eq!(Journal::new(&path).read().unwrap(), objects()[..=at]);
    }
    for line in fs::read_to_string(&path).unwrap().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "each line is JSON");
    }
    for wrong in ["", "{", "[1]", "{\"a\":\n1}"] {
        assert!(journal.append(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_line_that_a_kill_cut_off_is_left_out_and_then_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.json");
    let (journal, whole) = written(&path);
    let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    for cut in [last + 1, last + 11, last + 70, last + 100_000, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(journal.read().unwrap(), objects()[..4]);
        journal.append(&objects()[4]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    // As `mktemp` makes one.
    fs::write(&path, "").unwrap();
    assert_eq!(written(&path).1, whole);
}

#[test]
fn what_was_edited_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.json");
    let (journal, whole) = written(&path);
    let second = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for at in (second + 11..second + 95).step_by(3) {
        let mut edited = whole.clone();
        edited[at] ^= 1;
        fs::write(&path, &edited).unwrap();
        let told = journal.read().unwrap_err().to_string();
        assert!(told.contains("steps.json: line 2: the line was "), "{told}");
    }
}

#[test]
fn files_of_something_else_are_neither_read_nor_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for content in ["hello", "hello\n", "[1, 2", "\n", "{\"sha256\":\"12\n", "a,b\n1,2\n{\"sha256\":\""] {
        fs::write(&path, content).unwrap();
        let told = Journal::new(&path).read().unwrap_err().to_string();
        assert!(told.contains("line 1: the line was not written by this program: name a new file"), "{told}");
    }
    fs::write(&path, "a,b\n1,2").unwrap();
    assert!(Journal::new(&path).append("{}").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,b\n1,2");
    for endless in [folder.path(), Path::new("/dev/full"), Path::new("/dev/zero")] {
        let read = Journal::new(endless).read();
        assert!(matches!(read, Err(Error::Unsupported { .. })) || !endless.exists(), "{read:?}");
    }
}

#[test]
fn lines_of_many_writers_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.json");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let journal = Journal::new(&path);
            scope.spawn(move || {
                for step in 0..50 {
                    journal.append(&format!("{{\"of\":{writer},\"step\":{step}}}")).unwrap();
                }
            });
        }
    });
    let lines = Journal::new(&path).read().unwrap();
    assert_eq!(lines.len(), 200);
    for writer in 0..4 {
        let of: Vec<&String> =
            lines.iter().filter(|line| line.contains(&format!("\"of\":{writer},"))).collect();
        let step = |(at, line): (usize, &&String)| line.ends_with(&format!("\"step\":{at}}}"));
        assert!(of.len() == 50 && of.iter().enumerate().all(step), "each in its order");
    }
}
