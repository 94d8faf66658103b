//! The functions answer the scores of the library, with the same bits for any partitions.

use crate::table::{Rows, numbers, one};
use datafusion::error::Result;
use fewest_core::{Context, Dataset, DenseColumns, FeatureKind, Scorer, Target};
use fewest_filters::information::Mim;
use fewest_filters::similarity::FisherScore;
use fewest_filters::statistical::{ChiSquare, CorrelationScore, FScore, Gini, TScore, Variance};

/// Each function with a feature and a target of the table.
const CALLS: &[(&str, &str, Option<&str>)] = &[
    ("fewest_variance", "number", None),
    ("fewest_variance", "text", None),
    ("fewest_f", "number", Some("class")),
    ("fewest_f", "whole", Some("class")),
    ("fewest_f", "text", Some("class")),
    ("fewest_f", "number", Some("real")),
    ("fewest_f", "text", Some("real")),
    ("fewest_f_p_value", "text", Some("class")),
    ("fewest_f_p_value", "number", Some("real")),
    ("fewest_t", "number", Some("two")),
    ("fewest_t", "flag", Some("two")),
    ("fewest_t_p_value", "number", Some("two")),
    ("fewest_fisher", "number", Some("class")),
    ("fewest_fisher", "text", Some("class")),
    ("fewest_correlation", "number", Some("real")),
    ("fewest_correlation", "text", Some("real")),
    ("fewest_correlation", "number", Some("two")),
    ("fewest_correlation", "text", Some("two")),
    ("fewest_correlation_p_value", "whole", Some("real")),
    ("fewest_chi2", "text", Some("class")),
    ("fewest_chi2", "whole", Some("class")),
    ("fewest_chi2", "flag", Some("two")),
    ("fewest_chi2_p_value", "flag", Some("two")),
    ("fewest_mutual_information", "text", Some("class")),
    ("fewest_mutual_information", "whole", Some("two")),
    ("fewest_gini", "text", Some("class")),
    ("fewest_gini", "whole", Some("class")),
];

fn expression((function, x, y): (&str, &str, Option<&str>)) -> String {
    match y {
        Some(y) => format!("{function}({x}, {y})"),
        None => format!("{function}({x})"),
    }
}

/// The feature as numbers, and whether it is categories to this function.
fn feature(rows: &Rows, name: &str, function: &str) -> (Vec<Option<f64>>, bool) {
    let texts = |texts: &[Option<String>]| {
        let mut levels: Vec<&String> = texts.iter().flatten().collect();
        levels.sort();
        levels.dedup();
        let code = |text: &Option<String>| Some(levels.binary_search(&text.as_ref()?).unwrap() as f64);
        texts.iter().map(code).collect()
    };
    match name {
        "number" => (rows.number.clone(), false),
        // Gini takes the order of numbers; for the tables every value is a level.
        "whole" => {
            let as_levels = ["fewest_chi2", "fewest_mutual_information"].contains(&function);
            (rows.whole.iter().map(|value| value.map(|value| value as f64 + 2.0)).collect(), as_levels)
        }
        "text" => (texts(&rows.text), true),
        _ => (rows.flag.iter().map(|value| value.map(|value| f64::from(u8::from(value)))).collect(), true),
    }
}

/// What the library says of the rows without nulls.
fn expected(rows: &Rows, (function, x, y): (&str, &str, Option<&str>)) -> Option<f64> {
    let (values, is_categories) = feature(rows, x, function);
    let is_known = |row: &usize| {
        values[*row].is_some()
            && match y {
                Some("class") => rows.class[*row].is_some(),
                Some("two") => rows.two[*row].is_some(),
                Some("real") => rows.real[*row].is_some(),
                _ => true,
            }
    };
    let known: Vec<usize> = (0..rows.len()).filter(is_known).collect();
    let rows = rows.of(&known);
    let target = match y {
        Some("class") => Target::from_labels(&rows.class.iter().flatten().collect::<Vec<_>>()),
        Some("two") => Target::from_labels(&rows.two.iter().flatten().collect::<Vec<_>>()),
        Some("real") => Target::real(rows.real.iter().flatten().copied().collect()).unwrap(),
        _ => Target::None,
    };
    let values: Vec<f64> = known.iter().filter_map(|row| values[*row]).collect();
    let most = values.iter().copied().fold(0.0, f64::max) as usize;
    let data = Dataset::new(DenseColumns::from_columns(&[values]).unwrap(), target).unwrap();
    let kind = match is_categories {
        true => FeatureKind::Categorical { levels: (0..=most).map(|level| level.to_string()).collect() },
        false => FeatureKind::Numeric,
    };
    let data = data.with_feature_kinds(vec![kind]).unwrap();
    let of_p = function.ends_with("_p_value");
    let scorer: Box<dyn Scorer> = match function.trim_end_matches("_p_value") {
        "fewest_variance" => Box::new(Variance),
        "fewest_f" => Box::new(FScore),
        "fewest_t" => Box::new(TScore::default()),
        "fewest_fisher" => Box::new(FisherScore),
        "fewest_correlation" => Box::new(CorrelationScore::default()),
        "fewest_chi2" => Box::new(ChiSquare::default()),
        "fewest_mutual_information" => Box::new(Mim::default()),
        _ => Box::new(Gini::default()),
    };
    let scores = scorer.score(&data, &Context::default()).unwrap();
    let value = if of_p { scores.p_values.unwrap()[0] } else { scores.values[0] };
    Some(value).filter(|value| !value.is_nan())
}

/// To a relative 1e-12, and to 1e-9 for p-values, which can change a thousand times as much as their
/// statistic.
fn is_close(found: Option<f64>, expected: Option<f64>, call: &str) {
    let tolerance = if call.contains("p_value") { 1e-9 } else { 1e-12 };
    match (found, expected) {
        (Some(found), Some(expected)) => {
            let scale = expected.abs().max(1e-300);
            assert!((found - expected).abs() <= tolerance * scale, "{call}: {found} for {expected}");
        }
        (found, expected) => assert_eq!(found, expected, "{call}"),
    }
}

/// Rows of which every cell of a column is missing in some.
fn with_nulls(n: usize) -> Rows {
    let mut rows = Rows::new(n);
    for i in 0..n {
        match crate::table::draw(i, 9, 20) {
            0 => rows.number[i] = None,
            1 => rows.text[i] = None,
            2 => rows.class[i] = None,
            3 => (rows.two[i], rows.whole[i]) = (None, None),
            4 => (rows.real[i], rows.flag[i]) = (None, None),
            _ => {}
        }
    }
    rows
}

#[tokio::test]
async fn scores_are_those_of_the_library_and_the_same_for_any_partitions() -> Result<()> {
    let rows = with_nulls(3000);
    let calls: Vec<String> = CALLS.iter().map(|call| expression(*call)).collect();
    let query = format!("SELECT {} FROM t", calls.join(", "));
    let whole = numbers(&rows.session(1), &query).await?;
    for (found, call) in whole[0].iter().zip(CALLS) {
        is_close(*found, expected(&rows, *call), &expression(*call));
    }
    let backwards: Vec<usize> = (0..rows.len()).rev().collect();
    for (rows, partitions) in [(&rows, 2), (&rows, 7), (&rows.of(&backwards), 1), (&rows.of(&backwards), 7)] {
        assert_eq!(numbers(&rows.session(partitions), &query).await?, whole, "{partitions} partitions");
    }
    Ok(())
}

#[tokio::test]
async fn each_group_has_the_score_of_its_rows() -> Result<()> {
    let rows = with_nulls(2000);
    let calls: Vec<String> = CALLS.iter().map(|call| expression(*call)).collect();
    let query = format!("SELECT part, {} FROM t GROUP BY part ORDER BY part", calls.join(", "));
    let groups = numbers(&rows.session(7), &query).await?;
    assert_eq!(groups.len(), 5);
    for (part, found) in groups.iter().enumerate() {
        let own: Vec<usize> = (0..rows.len()).filter(|row| rows.part[*row] == part as i64).collect();
        let own = rows.of(&own);
        for (found, call) in found[1..].iter().zip(CALLS) {
            is_close(*found, expected(&own, *call), &expression(*call));
        }
        // The bits are those of a table of these rows alone.
        let alone = format!("SELECT {} FROM t", calls.join(", "));
        assert_eq!(numbers(&own.session(2), &alone).await?[0], found[1..]);
    }
    Ok(())
}

#[tokio::test]
async fn dictionaries_texts_and_other_widths_are_the_same() -> Result<()> {
    let context = with_nulls(1000).session(3);
    let pairs = [
        ("fewest_chi2(arrow_cast(text, 'Dictionary(UInt16, LargeUtf8)'), class)", "fewest_chi2(text, class)"),
        ("fewest_f(number, arrow_cast(class, 'Dictionary(Int8, Utf8)'))", "fewest_f(number, class)"),
        ("fewest_gini(arrow_cast(whole + 2, 'UInt8'), two)", "fewest_gini(whole + 2, two)"),
        ("fewest_gini(arrow_cast(whole + 2, 'UInt64'), two)", "fewest_gini(whole + 2, two)"),
        ("fewest_gini(arrow_cast(whole, 'Dictionary(Int32, Int16)'), two)", "fewest_gini(whole, two)"),
        ("fewest_variance(arrow_cast(whole, 'Decimal128(9, 2)'))", "fewest_variance(whole)"),
        ("fewest_t(number, CAST(two AS INT))", "fewest_t(number, two)"),
        ("fewest_correlation(number, CAST(two AS INT))", "fewest_correlation(number, two)"),
        (
            "fewest_f(number, class) FILTER (WHERE part < 3)",
            "fewest_f(CASE WHEN part < 3 THEN number END, class)",
        ),
    ];
    for (call, same) in pairs {
        let found = one(&context, call).await?;
        assert!(found.is_some());
        assert_eq!(found, one(&context, same).await?, "{call}");
    }
    Ok(())
}

/// Squares of such values are no numbers.
#[tokio::test]
async fn no_values_are_too_large_or_too_small() -> Result<()> {
    let rows = Rows::new(500);
    let context = rows.session(2);
    for call in [
        "fewest_f({}, class)",
        "fewest_t({}, two)",
        "fewest_fisher({}, class)",
        "fewest_correlation({}, real)",
    ] {
        let usual = one(&context, &call.replace("{}", "number")).await?;
        for power in ["1e200", "1e-200"] {
            let scaled = one(&context, &call.replace("{}", &format!("number * {power}"))).await?;
            is_close(scaled, usual, call);
        }
    }
    Ok(())
}
