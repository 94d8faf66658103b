//! Markdown links must have an existing target.

use super::Finding;
use super::lexer::line_of;

/// Links of the Markdown `file` to files that are not tracked or headings that do not exist. `read` returns
/// the text of a tracked file.
pub(super) fn check(
    file: &str,
    text: &str,
    tracked: &[String],
    read: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let prose = without_code(text);
    let mut findings = Vec::new();
    for (at, target) in targets(&prose) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) =
            target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let resolved = if path.is_empty() { Some(file.to_owned()) } else { resolve(file, path) };
        let line = line_of(&prose, at);
        let known = resolved.filter(|path| {
            let folder = format!("{path}/");
            tracked.iter().any(|other| other == path || other.starts_with(&folder))
        });
        let Some(known) = known else {
            findings.push(Finding::new(
                file,
                line,
                format!("link to `{target}`: no such file in the repository"),
            ));
            continue;
        };
        if let Some(anchor) = anchor.filter(|_| known.ends_with(".md")) {
            let there = if known == file { Some(text.to_owned()) } else { read(&known) };
            if !there.is_some_and(|there| headings(&there).iter().any(|heading| heading == anchor)) {
                findings.push(Finding::new(
                    file,
                    line,
                    format!("link to `{target}`: no such heading in {known}"),
                ));
            }
        }
    }
    findings
}

/// The text with fenced blocks and inline code blanked, every position kept.
fn without_code(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let fence = line.trim_start().starts_with("```");
        if fence || fenced {
            out.push_str(&blank(line));
        } else {
            for (index, piece) in line.split('`').enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(&if index % 2 == 0 { piece.to_owned() } else { blank(piece) });
            }
        }
        fenced ^= fence;
    }
    out
}

fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// The targets of `[text](target)` and `[name]: target`, with their positions.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let rest = &text[at + 2..];
        // A title may follow the target: `(target "title")`.
        let end = rest.find([')', ' ', '\n']).unwrap_or(rest.len());
        found.push((at, &rest[..end]));
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some((name, target)) = line.split_once("]: ")
            && name.starts_with('[')
            && !name.contains(' ')
        {
            found.push((at, target.trim()));
        }
        at += line.len();
    }
    found
}

/// `target`, seen from the folder of `file`, relative to the root; `None` when it leaves the repository.
fn resolve(file: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The anchors of the headings, by the rule of the usual hosts: lower case, spaces to `-`, punctuation
/// dropped.
fn headings(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut anchors = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        anchors.push(
            title
                .chars()
                .filter(|character| character.is_alphanumeric() || " -_".contains(*character))
                .map(|character| if character == ' ' { '-' } else { character })
                .collect(),
        );
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let tracked = ["README.md", "docs/a.md", "docs/methods/hsic.md"].map(str::to_owned);
        let read = |_: &str| Some("# One Thing: done\n".to_owned());
        check("docs/a.md", text, &tracked, read).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn links_that_resolve_are_silent() {
        let text = "# Top\n[a](../README.md) [b](methods/hsic.md#one-thing-done) [c](#top) \
                    [d](https://x.y/z) [e](methods/)\n\
                    `[f](nowhere)`\n```\n[g](nowhere)\n```\n[h]: methods/hsic.md\n";
        assert_eq!(messages(text), [""; 0]);
    }

    #[test]
    fn links_to_nothing_fire() {
        for text in ["[a](b.md)", "[a](methods/hsic.md#two)", "[a](#none)", "[a](../../x.md)", "[a]: b.md"] {
            assert_eq!(messages(text).len(), 1, "{text}");
        }
    }
}
