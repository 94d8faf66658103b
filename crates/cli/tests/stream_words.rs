//! What `fewest stream` says where it is called or fed wrongly, and at its end.

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Place, words};
use serde_json::Value;

/// Samples with a constant and a feature of 0 and 1; the class follows `a`.
fn samples(n: usize, header: bool) -> String {
    let mut text = String::from(if header { "a,fixed,b,y\n" } else { "" });
    for i in 0..n {
        let (a, b) =
            (f64::from((i * 17 % 61) as u32) / 30.0 - 1.0, f64::from((i * 23 % 59) as u32) / 29.0 - 1.0);
        text.push_str(&format!("{a},7,{b},{}\n", i32::from(a > 0.0)));
    }
    text
}

/// Features of eight samples as lines, the target first.
fn features(first: &str) -> String {
    let lines = ["y,0,1,0,1,0,1,0,1", "a,1,2,1,2,1,2,1,3", "b,5,1,4,2,3,3,2,4"];
    format!("{first}{}\n", lines.join("\n"))
}

/// The command while it reads a pipe that is open.
fn started(place: &Place, call: &str) -> Child {
    let mut command = place.command(&words(call));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Its exit status, its answers and its one line of trouble.
fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(stderr.lines().count() <= 1, "{stderr}");
    (output.status.code(), stdout, stderr)
}

/// A quote that is never closed takes all that follows into one cell: memory is bounded all the same.
#[test]
fn a_line_without_an_end_is_an_error() {
    let place = Place::new();
    let mut child = started(&place, "stream - -m f-score -k 1 --first-rows 50");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(samples(90, true).as_bytes()).unwrap();
    stdin.write_all(b"1,2,\"3\n").unwrap();
    // It stops to read before the end.
    let rest = std::io::copy(&mut std::io::repeat(b'4').take(1 << 28), &mut stdin);
    drop(stdin);
    let (status, stdout, stderr) = ended(child);
    assert!(rest.is_err() && status == Some(2), "{stderr}");
    assert!(stdout.contains("at the end, 90 samples: a ("), "{stdout}");
    assert!(stderr.contains("line 92: a line of more than 128 MiB: check the line ends"), "{stderr}");
}

/// The clock tells what is new only.
#[test]
fn an_answer_is_told_once() {
    let place = Place::new();
    let mut child = started(&place, "stream - -m f-score -k 1 --first-rows 50 --every-seconds 0.05");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(samples(90, true).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    drop(stdin);
    let (status, stdout, _) = ended(child);
    assert_eq!(status, Some(0));
    assert!(stdout.lines().filter(|line| line.starts_with("90 samples")).count() < 2, "{stdout}");
    assert!(stdout.contains("at the end, 90 samples: a ("), "{stdout}");
}

#[test]
fn the_answer_is_told_where_the_state_cannot_be_written() {
    let place = Place::new();
    std::fs::create_dir(place.path("gone")).unwrap();
    let call = "stream - -m f-score -k 1 --first-rows 50 --every 80 --json a.json --checkpoint gone/c.json";
    let mut child = started(&place, call);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(samples(90, true).as_bytes()).unwrap();
    let begun = Instant::now();
    while !place.path("a.json").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no answer while the pipe is open");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::remove_dir(place.path("gone")).unwrap();
    drop(stdin);
    let (status, stdout, stderr) = ended(child);
    assert!(status == Some(2) && stderr.contains("--checkpoint gone/c.json: cannot be written"), "{stderr}");
    assert!(stdout.contains("at the end, 90 samples: a ("), "{stdout}");
}

#[test]
fn a_first_line_of_values_is_not_taken_for_names() {
    let place = Place::new();
    place.write("bare.csv", &features(""));
    let call = "stream bare.csv --features-in-rows -m alpha-investing";
    place.refuses(&words(call), &["line 1", "`0` is there twice", "--header no for values"]);
    let out = place.done(&words(&format!("{call} --header no")));
    assert!(out.contains("of 8 samples, target `y`, 2 classes"), "{out}");
    place.write("real.csv", "y,0.5,1.25,2.5\na,1,2,1\n");
    place.refuses(&words("stream real.csv --features-in-rows -m alpha-investing"), &["--header no"]);
    // Numbers of samples are names.
    place.write("named.csv", &features("id,1,2,3,4,5,6,7,8\n"));
    let out = place.done(&words("stream named.csv --features-in-rows -m alpha-investing"));
    assert!(out.contains("of 8 samples, target `y`"), "{out}");
    place.write("twice.csv", &features("id,s,s,t,u,v,w,x,z\n"));
    let call = "stream twice.csv --features-in-rows -m alpha-investing";
    place.refuses(&words(call), &["`s` is there twice"]);
    place.done(&words(&format!("{call} --header yes")));
}

#[test]
fn a_binary_file_is_no_stream() {
    let place = Place::new();
    let mut matrix = b"MATLAB 5.0 MAT-file".to_vec();
    matrix.resize(124, b' ');
    matrix.extend_from_slice(&[0x00, 0x01, b'I', b'M']);
    matrix.resize(256, 0);
    std::fs::write(place.path("x.mat"), matrix).unwrap();
    place.refuses(&words("stream x.mat -m ofs"), &["x.mat", "a stream of a mat file", "fewest select"]);
    let help = place.done(&words("stream --help"));
    for option in ["--x-variable", "--first-index", "--allow-large", "svmlight", "MATLAB"] {
        assert!(!help.contains(option), "{option}");
    }
    assert!(place.done(&words("select --help")).contains("--x-variable"));
}

#[test]
fn a_pipe_is_not_followed() {
    let place = Place::new();
    let told = ["--follow", "leave it out"];
    place.refuses(&words("stream - -m ofs --follow"), &told);
}

#[test]
fn parameters_that_a_stream_needs_are_named() {
    let place = Place::new();
    place.write("f.csv", &features("id,1,2,3,4,5,6,7,8\n"));
    place.write("s.csv", &samples(90, true));
    let grafting = "stream f.csv --features-in-rows -m grafting";
    place.refuses(&words(grafting), &["`lambda` is not given", "a number above 0", "features arrive"]);
    place.refuses(
        &words(&format!("{grafting} -p lambda_ratio=0.1")),
        &["`lambda` is given by lambda_ratio = 0.1"],
    );
    place.refuses(
        &words("stream s.csv -m ofs --target b"),
        &["s.csv: ofs needs two classes as target, but the target is 1 real output"],
    );
    place.refuses(&words("stream s.csv -m ofs -k auto"), &["-k auto", "--param kept"]);
    place.refuses(&words("stream s.csv -m ofs --time-limit -3"), &["--time-limit", "above 0"]);
    place.refuses(&words("select s.csv --time-limit -3"), &["--time-limit", "above 0"]);
}

#[test]
fn the_first_samples_need_two_classes_where_the_method_does() {
    let place = Place::new();
    let (zeros, ones): (String, String) =
        ((0..40).map(|i| format!("{i},0\n")).collect(), (0..40).map(|i| format!("{},1\n", i * 2)).collect());
    place.write("sorted.csv", &format!("a,y\n{zeros}{ones}"));
    let told = ["the first 10 samples all have the class `0`", "--first-rows", "mix the lines"];
    place.refuses(&words("stream sorted.csv -m f-score -k 1 --first-rows 10"), &told);
    place.done(&words("stream sorted.csv -m f-score -k 1 --first-rows 60"));
}

#[test]
fn a_missing_target_is_placed_by_its_line_and_sample() {
    let place = Place::new();
    place.write("f.csv", &features("id,s1,s2,s3,s4,s5,s6,s7,s8\n").replacen("y,0,1,0", "y,0,1,", 1));
    let told = ["line 2", "column `s3`", "the target is missing"];
    place.refuses(&words("stream f.csv --features-in-rows -m alpha-investing"), &told);
}

/// A gap that a note mentions is told; nothing selected is said so.
#[test]
fn the_end_tells_what_there_is() {
    let place = Place::new();
    place.write("f.csv", &features("id,1,2,3,4,5,6,7,8\n"));
    let call = "stream f.csv --features-in-rows -m grafting -p lambda=0.01";
    let out = place.done(&words(call));
    assert!(out.contains("solver: newton, converged, duality gap "), "{out}");
    let line: Value = serde_json::from_str(&place.done(&words(&format!("{call} --json -")))).unwrap();
    assert!(line["solver"]["gap"].as_f64().unwrap() < 1e-6, "{line}");
    place.write("one.csv", "id,1,2,3,4\ny,0,1,0,1\nfixed,1,1,1,1\n");
    let out = place.done(&words("stream one.csv --features-in-rows -m alpha-investing"));
    assert!(out.contains("at the end, 1 feature: none selected ("), "{out}");
}

/// A constant says nothing, whatever weight it got; and an online learner does not converge.
#[test]
fn ofs_selects_no_constant_and_says_how_it_ended() {
    let place = Place::new();
    place.write("s.csv", &samples(90, true));
    let line: Value = serde_json::from_str(&place.done(&words("stream s.csv -m ofs -k 3 --json -"))).unwrap();
    let names: Vec<&Value> = line["features"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert!(!names.is_empty() && !names.contains(&&Value::from("fixed")), "{line}");
    assert_eq!(line["status"], "ended");
    let table = place.json(&words("select s.csv -m ofs -k 3"));
    assert_eq!(table["status"], "ended");
    assert!(table["notes"].to_string().contains("in the last pass"), "{}", table["notes"]);
}

/// A table and a stream call a column without a name the same.
#[test]
fn a_target_without_a_name_has_one_name() {
    let place = Place::new();
    place.write("bare.csv", &samples(90, false));
    let told = "target `target`, 2 classes (the last column; use --target to name another)";
    for command in ["select bare.csv -m f-score -k 1", "stream bare.csv -m f-score -k 1"] {
        let out = place.done(&words(command));
        assert!(out.contains(told), "{out}");
    }
}

/// What follows a file that grows still does.
#[test]
fn a_file_is_followed() {
    let place = Place::new();
    place.write("s.csv", &samples(90, true));
    let mut command = place.command(&words("stream s.csv -m f-score -k 1 --follow --time-limit 0.2"));
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", String::from_utf8_lossy(&output.stderr));
}
