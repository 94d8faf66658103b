//! Every method has a page, and the page's table of parameters is what the code tells.
//!
//! `FEWEST_WRITE_PAGES=1 cargo test -p fewest-experiments pages::` writes the tables.

use std::path::PathBuf;

use fewest::registry::{Method, Parameter, Range, Registry};

/// The first line of a table of parameters.
const HEAD: &str = "| name | default | range | meaning |";

fn page(method: &Method) -> PathBuf {
    let name = format!("../docs/methods/{}.md", method.id);
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The page with the table of the method's parameters in its section `Parameters`.
fn with_table(method: &Method, text: &str) -> String {
    let table = table(&method.parameters());
    if table.is_empty() && !text.lines().any(|line| line == HEAD) {
        return text.to_owned();
    }
    let table = table.iter().map(String::as_str);
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(start) = lines.iter().position(|line| *line == HEAD) {
        let length = lines[start..].iter().take_while(|line| line.starts_with('|')).count();
        lines.splice(start..start + length, table);
    } else if let Some(section) = lines.iter().position(|line| *line == "## Parameters") {
        lines.splice(section + 2..section + 2, table.chain([""]));
    } else {
        let before = lines.iter().position(|line| *line == "## Cost").unwrap_or(lines.len());
        lines.splice(before..before, ["## Parameters", ""].into_iter().chain(table).chain([""]));
    }
    lines.join("\n") + "\n"
}

/// The lines of the table; none without parameters.
fn table(parameters: &[Parameter]) -> Vec<String> {
    if parameters.is_empty() {
        return Vec::new();
    }
    [HEAD.to_owned(), "|---|---|---|---|".to_owned()].into_iter().chain(parameters.iter().map(row)).collect()
}

fn row(parameter: &Parameter) -> String {
    let default = parameter.default.as_ref().map_or("–".to_owned(), |default| format!("`{default}`"));
    let meaning = match parameter.condition() {
        Some(condition) => format!("{}; where {condition}", parameter.description()),
        None => parameter.description(),
    };
    let range = match parameter.range {
        Range::OneOf(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    let cells = [format!("`{}`", parameter.name), default, range, meaning];
    format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

#[test]
fn every_method_has_a_page() {
    for method in Registry::standard().methods() {
        let page = page(method);
        assert!(page.is_file(), "{} is missing: method `{}` needs its page", page.display(), method.id);
    }
}

#[test]
fn tables_of_parameters_are_what_the_code_tells() -> std::io::Result<()> {
    let write = std::env::var_os("FEWEST_WRITE_PAGES").is_some();
    for method in Registry::standard().methods() {
        let page = page(method);
        let text = std::fs::read_to_string(&page)?;
        let right = with_table(method, &text);
        if write {
            std::fs::write(&page, right)?;
        } else {
            assert_eq!(text, right, "{}: write the tables with FEWEST_WRITE_PAGES=1", page.display());
        }
    }
    Ok(())
}

#[test]
fn a_table_is_replaced_or_put_in() -> Result<(), fewest::core::Error> {
    let registry = Registry::standard();
    let method = registry.find("relieff")?;
    let row =
        "| `neighbours` | `10` | a whole number of at least 1 | neighbours of each sample, in every class |";
    let table = format!("{HEAD}\n|---|---|---|---|\n{row}\n");
    let right = format!("# relieff\n\n## Parameters\n\n{table}\n## Cost\n");
    assert_eq!(with_table(method, &right), right);
    for wrong in [
        right.replace("10", "5"),
        right.replace(row, "| `neighbors` | 10 | | |"),
        right.replace(&format!("{table}\n"), ""),
        "# relieff\n\n## Cost\n".to_owned(),
    ] {
        assert_ne!(wrong, right);
        assert_eq!(with_table(method, &wrong), right);
    }
    let plain = "# variance\n\n## Cost\n";
    assert_eq!(with_table(registry.find("variance")?, plain), plain);
    let none = "# variance\n\n## Parameters\n\nNone.\n\n## Cost\n";
    assert_eq!(with_table(registry.find("variance")?, none), none);
    Ok(())
}
