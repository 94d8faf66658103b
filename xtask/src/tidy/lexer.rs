//! Splits Rust source into code and comments, so that a rule about code does not fire on a string or a
//! comment.

/// One source text twice, both of the same length and lines as the original: once with everything but code
/// blanked, once with everything but comments. Strings are blank in both, their quotes are code.
pub(super) struct Views {
    /// Code without comments and without the content of strings.
    pub code: String,
    /// Comments only.
    pub comments: String,
}

/// The two views of `text`.
pub(super) fn views(text: &str) -> Views {
    // Bytes, not characters: blanks keep every position; what lies outside ASCII becomes blanks as well.
    let bytes = text.as_bytes();
    let blank: Vec<u8> = bytes.iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }).collect();
    let (mut code, mut comments) = (blank.clone(), blank);
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => {
                let end = find(bytes, at, b"\n").unwrap_or(bytes.len());
                keep(&mut comments, bytes, at, end);
                end
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                let end = block_comment_end(bytes, at);
                keep(&mut comments, bytes, at, end);
                end
            }
            b'"' => {
                let end = string_end(bytes, at + 1);
                code[at] = b'"';
                code[end - 1] = b'"';
                end
            }
            b'r' if !word_before(bytes, at) => match raw_string_end(bytes, at) {
                Some(end) => {
                    code[at] = b'"';
                    code[end - 1] = b'"';
                    end
                }
                None => {
                    code[at] = b'r';
                    at + 1
                }
            },
            b'\'' => {
                let end = char_end(bytes, at).unwrap_or(at + 1);
                code[at] = b'\'';
                end
            }
            byte => {
                if byte.is_ascii() {
                    code[at] = byte;
                }
                at + 1
            }
        };
        at = end;
    }
    let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Views { code: text_of(code), comments: text_of(comments) }
}

fn keep(view: &mut [u8], bytes: &[u8], from: usize, to: usize) {
    for at in from..to {
        if bytes[at].is_ascii() {
            view[at] = bytes[at];
        }
    }
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    bytes[from..].windows(what.len()).position(|window| window == what).map(|at| from + at)
}

fn word_before(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') && bytes[at - 1] != b'b'
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// Past the closing quote of the string whose content starts at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Past the end of a raw string that starts at `at`; `None` when none does.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|&&byte| byte == b'#').count();
    if bytes.get(at + 1 + hashes) != Some(&b'"') {
        return None;
    }
    let closing: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let end = find(bytes, at + 2 + hashes, &closing).map_or(bytes.len(), |end| end + closing.len());
    Some(end)
}

/// Past the end of a character literal that starts at `at`; `None` for a lifetime.
fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at + 1) == Some(&b'\\') {
        return find(bytes, at + 3, b"'").map(|end| end + 1);
    }
    // A character has at most four bytes, a lifetime no closing quote.
    (at + 2..=at + 5)
        .find(|&end| bytes.get(end) == Some(&b'\''))
        .filter(|&end| {
            let inner = &bytes[at + 1..end];
            inner.len() == 1 || !inner[0].is_ascii()
        })
        .map(|end| end + 1)
}

/// `code` with the modules under `#[cfg(test)]` blanked: what a library ships.
pub(super) fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    let mut from = 0;
    while let Some(found) = out[from..].find("#[cfg(test)]") {
        let start = from + found;
        let Some(open) = out[start..].find(['{', ';']).map(|at| start + at) else { break };
        let end =
            if out.as_bytes()[open] == b'{' { closing(&out, open).unwrap_or(out.len()) } else { open + 1 };
        let blank: String =
            out[start..end].chars().map(|character| if character == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..end, &blank);
        from = end;
    }
    out
}

/// Past the bracket that closes the one at `open`.
pub(super) fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The line of byte `at`, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let text = "let a = \"print // no\\\"\"; // note\nlet b = r#\"x\"y\"#; /* a /* b */ c */ let c = \
                    '\"'; f::<'a>(d)";
        let views = views(text);
        assert_eq!(views.code.len(), text.len());
        assert_eq!(views.code.lines().count(), 2);
        for absent in ["print", "note", "x", "y"] {
            assert!(!views.code.contains(absent), "{absent} in {}", views.code);
        }
        for present in ["let a", "let b", "let c", "f::<'a>(d)"] {
            assert!(views.code.contains(present), "{present} not in {}", views.code);
        }
        assert!(views.comments.contains("// note"));
        assert!(!views.comments.contains("no\\"));
    }

    #[test]
    fn test_modules_are_left_out() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { c() }\n}\nfn d() {}\n#[cfg(test)]\nmod \
                    e;\nfn g() {}";
        let shipped = without_tests(code);
        assert!(shipped.contains("fn a") && shipped.contains("fn d") && shipped.contains("fn g"));
        assert!(!shipped.contains("fn b") && !shipped.contains("mod e"));
        assert_eq!(shipped.len(), code.len());
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_of("a\nb\nc", 4), 3);
        assert_eq!(line_of("a", 0), 1);
    }
}
