//! The report as people see it: in headless Chromium, narrow and wide, light and dark, by keyboard, and as
//! assistive technology is told. Skipped where there is no browser; `.ci/run` sees to one.

mod browser;

use std::path::{Path, PathBuf};

use crate::common::{self, Place};
use browser::Browser;
use serde_json::Value;

const WIDTHS: [u32; 3] = [400, 1300, 2000];
const SCHEMES: [&str; 2] = ["light", "dark"];
const TAB: u32 = 9;
const ENTER: u32 = 13;

/// A folder with reports of every kind, and their files.
fn reports() -> (Place, Vec<PathBuf>) {
    let place = Place::with_wdbc();
    place.write("table.csv", &common::table());
    place.write("hostile.csv", &hostile());
    for source in ["networks/sbm_a.csv", "networks/sbm_a_edges.csv", "heart_failure.csv"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/data").join(source);
        let name = source.file_name().unwrap().to_string_lossy();
        place.write(&name, &std::fs::read_to_string(&source).unwrap());
    }
    let mut files = Vec::new();
    let mut made = |name: &str, arguments: &[&str]| {
        let file = format!("{name}.html");
        let words: Vec<&str> = arguments.iter().copied().chain(["--report", &file]).collect();
        place.done(&words);
        files.push(place.path(&file).canonicalize().unwrap());
    };
    made("select", &["select", "wdbc.csv", "-k", "10"]);
    made("all", &["select", "wdbc.csv", "-k", "30", "--param", "related=3"]);
    made("tests", &["select", "wdbc.csv", "-m", "f-score", "-k", "5"]);
    made("scores", &["score", "wdbc.csv", "-m", "f-score"]);
    made("false-discoveries", &["select", "wdbc.csv", "-m", "f-score", "--fdr", "0.3"]);
    let survival = ["--target", "time,DEATH_EVENT", "--task", "survival", "--missing", "drop-rows"];
    made("survival", &[&["select", "heart_failure.csv", "-m", "lasso", "-k", "3"], &survival[..]].concat());
    made("numbers", &["select", "table.csv", "-k", "2"]);
    made("unsupervised", &["select", "wdbc.csv", "-m", "variance", "-k", "4"]);
    made("hostile", &["select", "hostile.csv", "--target", "kind", "-k", "6"]);
    made(
        "evaluate",
        &["evaluate", "wdbc.csv", "-m", "mrmr", "-k", "1-10,20,30", "--metric", "accuracy,macro-f1"],
    );
    made("compare", &["compare", "wdbc.csv", "-m", "mrmr,f-score,gini,hsic", "-k", "1-10,20,30"]);
    made("auto", &["evaluate", "wdbc.csv", "-m", "cfs", "-k", "1,2,5,10,auto", "--no-baselines"]);
    let linked = ["--links", "sbm_a_edges.csv", "-m", "fsnet", "-k", "4"];
    made("network", &[&["select", "sbm_a.csv"], &linked[..]].concat());
    // The links are between the first 120 rows, as many as the hostile table has.
    made("hostile-network", &[&["select", "hostile.csv", "--target", "kind"], &linked[..]].concat());
    (place, files)
}

/// Long names without a blank, markup, other scripts, many classes, categories, huge and tiny numbers.
fn hostile() -> String {
    let long = "gene".repeat(40);
    let mut table =
        format!("{long},<script>alert(1)</script>,\u{202e}drawkcab,名前の長い列,colour,1e300s,kind\n");
    for i in 0..120 {
        let (class, colour) = (i % 15, ["red", "green", "blue & <b>bold</b>"][i % 3]);
        let value = (i * 7919 % 101) as f64;
        table.push_str(&format!(
            "{},{},{},{},{colour},{},class number {class} with a long name\n",
            value * 1e-12,
            class as f64 * 1e6 + value,
            value.sin(),
            i % 2,
            (value - 50.0) * 1e298,
        ));
    }
    table
}

#[test]
fn every_report_is_readable_everywhere() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, files) = reports();
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for width in WIDTHS {
            for scheme in SCHEMES {
                browser.open(file, width, scheme);
                let found = browser.evaluate(include_str!("report_in_browser/measure.js"));
                let found = found.as_array().unwrap().iter().filter_map(Value::as_str);
                wrong.extend(found.map(|what| format!("{name}, {width} px, {scheme}: {what}")));
            }
        }
    }
    let tests = files.iter().find(|file| file.file_stem().is_some_and(|stem| stem == "tests")).unwrap();
    browser.open(tests, 400, "light");
    let heads = "[...document.querySelectorAll('.ranking thead th')].filter(head => head.getClientRects().length)\
                 .map(head => head.textContent.trim())";
    let heads = browser.evaluate(heads);
    assert!(heads.as_array().unwrap().contains(&Value::from("q")), "{heads}");
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
    let asked: Vec<&String> = browser.requested.iter().filter(|url| !url.starts_with("file://")).collect();
    assert!(asked.is_empty(), "asked for {asked:?}");
    assert_eq!(browser.requested.len(), files.len() * WIDTHS.len() * SCHEMES.len() + 1, "the pages alone");
}

#[test]
fn everything_has_a_name_for_those_who_do_not_see_it() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, files) = reports();
    for file in &files {
        browser.open(file, 1300, "light");
        let nodes = browser.accessibility();
        let count = |role: &str| nodes.iter().filter(|node| node.0 == role).count();
        for (role, name, node) in &nodes {
            let needs = ["image", "img", "table", "button", "textbox", "heading", "RootWebArea"];
            if needs.contains(&role.as_str()) {
                assert!(!name.trim().is_empty(), "{}: a nameless {role}: {node}", file.display());
            }
        }
        let level_one = nodes.iter().filter(|(role, _, node)| {
            role == "heading"
                && node["properties"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|property| property["name"] == "level" && property["value"]["value"] == 1)
        });
        assert_eq!(level_one.count(), 1, "{}", file.display());
        assert!(count("table") >= 2 && count("image") + count("img") >= 1, "{}", file.display());
        assert_eq!(count("main"), 1);
    }
}

#[test]
fn the_keyboard_reaches_every_control_and_shows_where_it_is() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, files) = reports();
    browser.open(&files[0], 1300, "light");
    let controls = browser.evaluate("document.querySelectorAll('button, summary, a[href]').length");
    // Those of a list of names are reached once it is open.
    let hidden = browser.evaluate("document.querySelectorAll('details:not([open]) button').length");
    let expected = controls.as_u64().unwrap() - hidden.as_u64().unwrap();
    assert!(expected >= 5, "five columns and a list");
    let focus = "(() => { const at = document.activeElement; const style = getComputedStyle(at); \
                 return [at.textContent, style.outlineStyle, parseFloat(style.outlineWidth)]; })()";
    let mut reached = Vec::new();
    for _ in 0..expected {
        browser.press("Tab", TAB);
        let found = browser.evaluate(focus);
        assert!(found[1] != "none" && found[2].as_f64().unwrap() >= 2.0, "no focus is seen: {found}");
        reached.push(found[0].as_str().unwrap().to_owned());
    }
    reached.dedup();
    assert_eq!(reached.len() as u64, expected, "{reached:?}");

    // Enter on the first column's button sorts, and on it again the other way round.
    let ranks = "[...document.querySelector('table.sortable').tBodies[0].rows]\
                 .map(row => row.cells[0].textContent).join(' ')";
    let first = "document.querySelector('table.sortable button').focus()";
    browser.evaluate(first);
    browser.press("Enter", ENTER);
    assert_eq!(browser.evaluate(ranks), "1 2 3 4 5 6 7 8 9 10");
    browser.press("Enter", ENTER);
    assert_eq!(browser.evaluate(ranks), "10 9 8 7 6 5 4 3 2 1");
    let sort = browser.evaluate("document.querySelector('table.sortable th').getAttribute('aria-sort')");
    assert_eq!(sort, "descending");

    // Enter opens the list, which has every name.
    browser.evaluate("document.querySelector('summary').focus()");
    browser.press("Enter", ENTER);
    assert_eq!(browser.evaluate("document.querySelector('details').open"), true);
    let names = browser.evaluate("document.querySelector('textarea').value");
    assert_eq!(names.as_str().unwrap().lines().count(), 10);
}

#[test]
fn the_page_is_whole_without_its_script() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, files) = reports();
    let text = "[...document.querySelectorAll('main *:not(button)')].filter(element => element.checkVisibility())\
                .length + ' ' + document.querySelector('main').innerText.replace(/Copy/g, '').replace(/\\s+/g, ' ')";
    for file in &files {
        browser.open(file, 1300, "light");
        let with = browser.evaluate(text);
        browser.call("Emulation.setScriptExecutionDisabled", serde_json::json!({"value": true}));
        browser.open(file, 1300, "light");
        assert_eq!(browser.evaluate("document.querySelectorAll('button').length"), 0);
        assert_eq!(browser.evaluate(text), with, "{}", file.display());
        browser.call("Emulation.setScriptExecutionDisabled", serde_json::json!({"value": false}));
    }
}
