//! Numbers and names in a form for people.

use fewest::core::{Certificate, FalseDiscoveries, RateBound, ViewWeight};
use fewest::eval::KRule;
use fewest_study::Baseline;
pub use fewest_study::text::{count, counted, left_out};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The name of a certificate and its value, where there is one.
pub fn certificate(certificate: Certificate) -> Option<(&'static str, String)> {
    let name = match certificate {
        Certificate::Gap { .. } => "duality gap",
        Certificate::Stationarity { .. } => "stationarity",
        _ => return None,
    };
    Some((name, number(certificate.value(), 2))).filter(|_| !certificate.value().is_nan())
}

/// The weight of every view, in words.
pub fn views(weights: &[ViewWeight]) -> Vec<(String, String)> {
    weights.iter().map(|view| (one_line(&view.name), number(view.weight, 3))).collect()
}

/// A bound on irrelevant features in one sentence.
pub fn false_discoveries(bound: FalseDiscoveries) -> String {
    let rows = bound_rows(bound);
    let told: Vec<String> = rows[1..].iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("false discoveries: {}; {}", rows[0].1, told.join("; "))
}

/// A bound on irrelevant features, the bound itself first.
pub fn bound_rows(bound: FalseDiscoveries) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    let target = number(bound.target(), 3);
    let mut rows = match bound {
        FalseDiscoveries::Rate(rate) => vec![
            match rate.offset {
                0 => row("bound", format!("expected share of irrelevant features about {target} (offset 0)")),
                _ => row("bound", format!("expected share of irrelevant features at most {target}")),
            },
            row("by", counted(rate.draws, "set of knockoffs", "sets of knockoffs")),
            match rate.folds {
                0 => row("statistic", rate.statistic.to_owned()),
                folds => row("statistic", format!("{}, {folds} folds", rate.statistic)),
            },
            row("construction", rate.construction.to_owned()),
            row("covariance", covariance(&rate)),
        ]
        .into_iter()
        // Where no feature varies there is neither.
        .filter(|(_, value)| !value.is_empty())
        .collect(),
        FalseDiscoveries::Number(by) => vec![
            row("bound", format!("expected number of irrelevant features at most {target}")),
            row("by", counted(by.halves, "half of the samples", "halves of the samples")),
            row("features in a half", number(by.per_half, 3)),
            row("threshold", number(by.threshold, 3)),
        ],
        _ => vec![row("bound", target)],
    };
    rows.push(row("assumption", bound.assumption().to_owned()));
    rows
}

/// What the correlations of the features are made of.
fn covariance(rate: &RateBound) -> String {
    let own = match rate.covariance {
        "graph" if rate.pairs == 0 => "nothing else".to_owned(),
        "graph" => format!("graph of {}", counted(rate.pairs, "pair of features", "pairs of features")),
        "shrunk" | "ledoit-wolf" => {
            format!("{}, {} of the identity", rate.covariance, number(rate.shrinkage, 2))
        }
        other => other.to_owned(),
    };
    match rate.factors {
        0 if rate.covariance == "graph" && rate.pairs == 0 => "no correlations".to_owned(),
        0 => own,
        factors => format!("{} and {own}", counted(factors, "factor", "factors")),
    }
}

/// What the p-values of a comparison leave out.
pub const UNCORRECTED: &str = "p-values are not corrected for many methods and many k, and the best was chosen on the same folds: the smallest \
     of several says less than it seems";

/// The name of a row without a selection.
pub fn baseline_name(known: &Baseline) -> &'static str {
    if known.n_features == 0 { "none" } else { "all" }
}

/// What a row without a selection is.
pub fn baseline_text(known: &Baseline) -> String {
    let what = match known.id {
        "majority-class" => "the most frequent class".to_owned(),
        "mean" => "the mean".to_owned(),
        "equal-risk" => "the same risk for all".to_owned(),
        "covariates" => "the covariates alone".to_owned(),
        _ => counted(known.n_features, "feature", "features"),
    };
    format!("{}: {what}", baseline_name(known))
}

/// A standard error, or `-` where there is none.
pub fn error(standard_error: Option<f64>) -> String {
    standard_error.map_or("-".to_owned(), |error| number(error, 2))
}

/// The choice of a rule, in words.
pub fn rule_text(rule: KRule) -> &'static str {
    match rule {
        KRule::Best => "best mean",
        KRule::OneStandardError => "fewest features within one standard error of it",
    }
}

/// `value` with `digits` significant digits: `0.3121`, `12.50`, `1.2e-9`, `inf`.
pub fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() || value == 0.0 {
        return format!("{value}");
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match exponent {
        // The same digits with the point elsewhere: formatting twice would cost as much again.
        -4..0 => {
            let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
            let zeros = &"000"[..usize::try_from(-1 - exponent).unwrap_or(0)];
            let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            [sign, "0.", zeros, first, rest].concat()
        }
        0 => mantissa.to_owned(),
        1..=5 => {
            let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
            format!("{value:.decimals$}")
        }
        _ => scientific,
    }
}

/// A p-value or q-value: one that no number is small enough for is not 0.
pub fn p_value(value: f64, digits: usize) -> String {
    if value == 0.0 { "< 1e-300".to_owned() } else { number(value, digits) }
}

/// [`number`] without zeros at the end: `0.2`, `140`, `2e-7`.
pub fn short(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    let (mantissa, exponent) = text.split_once('e').map_or((text.as_str(), None), |(m, e)| (m, Some(e)));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    exponent.map_or(mantissa.to_owned(), |exponent| format!("{mantissa}e{exponent}"))
}

/// A time: `0.052 s`, `3 min 20 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{} s", number(seconds, 2))
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

/// `text` on one line, with control characters escaped: a name from a file must not move the cursor.
pub fn one_line(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        // Line ends, and what turns the direction of letters behind it.
        if c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Whether all of `text` is ASCII that a terminal shows, each byte in one column: what most tables are.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The terminal columns that `text` takes.
pub fn width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.width() }
}

/// [`one_line`] of at most `width` terminal columns, cut with `…`.
pub fn shortened(text: &str, width: usize) -> String {
    let line = one_line(text);
    if self::width(&line) <= width {
        return line;
    }
    let mut short = String::new();
    let mut used = 0;
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_asked_for() {
        assert_eq!(number(0.312_149, 4), "0.3121");
        assert_eq!(number(12.5, 4), "12.50");
        assert_eq!(number(-1.26e-9, 2), "-1.3e-9");
        assert_eq!(number(123_456.7, 4), "123457");
        assert_eq!(number(1e7, 3), "1.00e7");
        assert_eq!(
            (number(-0.012_5, 2), number(0.000_123_456, 3)),
            ("-0.013".to_owned(), "0.000123".to_owned())
        );
        assert_eq!((number(5.0, 1), number(0.5, 1)), ("5".to_owned(), "0.5".to_owned()));
        assert_eq!(number(0.0, 4), "0");
        assert_eq!(number(f64::INFINITY, 4), "inf");
        assert_eq!(number(f64::NAN, 4), "NaN");
        assert_eq!((p_value(0.0, 3), p_value(0.0123, 2)), ("< 1e-300".to_owned(), "0.012".to_owned()));
        // Rounding up to the next power of ten.
        assert_eq!(number(0.099_999, 2), "0.10");
    }

    #[test]
    fn short_numbers_end_without_zeros() {
        assert_eq!(short(0.2, 3), "0.2");
        assert_eq!(short(100.0, 3), "100");
        assert_eq!(short(1e-7, 3), "1e-7");
        assert_eq!(short(2.5e-7, 3), "2.5e-7");
        assert_eq!(short(2e10, 3), "2e10");
        assert_eq!(short(0.0, 3), "0");
        assert_eq!(short(f64::INFINITY, 3), "inf");
    }

    #[test]
    fn times_are_in_seconds_or_minutes() {
        assert_eq!(duration(0.0521), "0.052 s");
        assert_eq!(duration(200.4), "3 min 20 s");
    }

    #[test]
    fn names_cannot_move_the_cursor() {
        assert_eq!(one_line("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
        assert_eq!(one_line("a\u{2067}b\u{2069}\u{61c}"), "a\\u{2067}b\\u{2069}\\u{61c}");
        assert_eq!(shortened("température", 6), "tempé…");
        assert_eq!(shortened("名前名前", 5), "名前…");
        assert_eq!(shortened("short", 5), "short");
    }
}
