//! What has no answer is null; what is asked wrongly is an error that says what to do.

use crate::table::{Rows, numbers, one};
use datafusion::error::{DataFusionError, Result};

/// The first line of the error, which has to be one.
async fn error(rows: &Rows, expression: &str) -> String {
    let error = one(&rows.session(2), expression).await.unwrap_err();
    let text = error.find_root().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[tokio::test]
async fn wrong_types_are_errors_of_the_plan() {
    let rows = Rows::new(10);
    let cases = [
        ("fewest_chi2(number, class)", ["fewest_chi2: argument 1 (x) is Float64", "floor(x / 10)"]),
        ("fewest_gini(CAST(number AS DECIMAL(9, 2)), class)", ["argument 1 (x) is Decimal128", "BIGINT"]),
        ("fewest_t(number, real)", ["fewest_t: argument 2 (y) is Float64", "fewest_correlation(x, y)"]),
        ("fewest_f(make_date, class)", ["argument 1 (x) is Date32", "cast it"]),
        ("fewest_f(number, make_date)", ["fewest_f: argument 2 (y) is Date32", "cast it"]),
        ("fewest_variance(number, class)", ["fewest_variance takes one argument", "given 2"]),
        ("fewest_variance()", ["fewest_variance", "0"]),
        ("fewest_f(number)", ["fewest_f takes two arguments", "given 1"]),
        ("fewest_f(number, class, real)", ["fewest_f takes two arguments", "given 3"]),
    ];
    for (call, words) in cases {
        let call = call.replace("make_date", "arrow_cast(part, 'Date32')");
        let context = rows.session(1);
        // Without a row being read.
        let error = match context.sql(&format!("SELECT {call} FROM t")).await {
            Err(error) => error,
            Ok(frame) => frame.into_optimized_plan().unwrap_err(),
        };
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{call}: {text}");
    }
}

#[tokio::test]
async fn too_few_rows_have_no_answer() -> Result<()> {
    let calls = "fewest_variance(number), fewest_f(number, class), fewest_f(number, real), fewest_f(text, real), \
                 fewest_t(number, two), fewest_fisher(text, class), fewest_correlation(number, real), \
                 fewest_chi2(text, class), fewest_mutual_information(whole, two), fewest_gini(text, class), \
                 fewest_f_p_value(number, class)";
    let query = format!("SELECT {calls} FROM t");
    for partitions in [1, 3] {
        let none = numbers(&Rows::new(0).session(partitions), &query).await?;
        assert_eq!(none, [vec![None; 11]]);
        // No group has an answer either.
        let by_part = format!("SELECT {calls} FROM t GROUP BY part");
        assert!(numbers(&Rows::new(0).session(partitions), &by_part).await?.is_empty());
        // One row has a variance.
        let mut one = vec![None; 11];
        one[0] = Some(0.0);
        assert_eq!(numbers(&Rows::new(1).session(partitions), &query).await?, [one]);
    }
    // One class, one value, or nulls only.
    let mut rows = Rows::new(50);
    (rows.class, rows.two) = (vec![Some("ill".to_owned()); 50], vec![Some(true); 50]);
    rows.real = vec![Some(3.0); 50];
    let mut one = vec![None; 11];
    one[0] = numbers(&rows.session(1), "SELECT fewest_variance(number) FROM t").await?[0][0];
    assert_eq!(numbers(&rows.session(2), &query).await?, [one]);
    rows.number = vec![None; 50];
    assert_eq!(numbers(&rows.session(2), &query).await?, [vec![None; 11]]);
    assert_eq!(one_of(&Rows::new(50), "fewest_f(NULL, class)").await?, None);
    assert_eq!(one_of(&Rows::new(50), "fewest_chi2(text, NULL)").await?, None);
    Ok(())
}

async fn one_of(rows: &Rows, call: &str) -> Result<Option<f64>> {
    one(&rows.session(2), call).await
}

#[tokio::test]
async fn a_constant_feature_is_the_worst_and_has_no_p_value() -> Result<()> {
    let mut rows = Rows::new(50);
    rows.number = vec![Some(0.1); 50];
    rows.text = vec![Some("a".to_owned()); 50];
    for call in ["fewest_f(number, class)", "fewest_f(number, real)", "fewest_correlation(number, real)"] {
        assert_eq!(one_of(&rows, call).await?, Some(0.0), "{call}");
        assert_eq!(one_of(&rows, &call.replace('(', "_p_value(")).await?, None, "{call}");
    }
    assert_eq!(one_of(&rows, "fewest_chi2(text, class)").await?, Some(0.0));
    assert_eq!(one_of(&rows, "fewest_mutual_information(text, class)").await?, Some(0.0));
    // And one that separates the classes is the best.
    rows.number = rows.two.iter().map(|two| Some(f64::from(u8::from(two.unwrap())))).collect();
    assert_eq!(one_of(&rows, "fewest_f(number, two)").await?, Some(f64::INFINITY));
    Ok(())
}

#[tokio::test]
async fn what_is_not_finite_is_an_error_that_says_how_to_leave_it_out() -> Result<()> {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut rows = Rows::new(200);
        rows.number[150] = Some(value);
        for call in ["fewest_variance(number)", "fewest_f(number, class)", "fewest_correlation(number, real)"]
        {
            let text = error(&rows, call).await;
            assert!(text.contains("argument 1 (x) is ") && text.contains("FILTER"), "{text}");
            let kept = format!("{call} FILTER (WHERE number BETWEEN -1e308 AND 1e308)");
            assert!(one_of(&rows, &kept).await?.is_some());
        }
        for call in ["fewest_f(real, number)", "fewest_f(text, number)", "fewest_correlation(real, number)"] {
            let text = error(&rows, call).await;
            assert!(text.contains("argument 2 (y) is "), "{text}");
        }
        // Where y is null, the row does not count.
        rows.class[150] = None;
        assert!(one_of(&rows, "fewest_f(number, class)").await?.is_some());
    }
    let mut rows = Rows::new(200);
    rows.number[7] = Some(f64::NAN);
    let found = one_of(&rows, "fewest_f(number, class)").await.unwrap_err();
    let DataFusionError::External(error) = found.find_root() else { panic!("{found}") };
    let error = error.downcast_ref::<fewest_datafusion::Error>();
    assert!(matches!(
        error,
        Some(fewest_datafusion::Error::NotFinite { function: "fewest_f", number: 1, .. })
    ));
    Ok(())
}

#[tokio::test]
async fn what_the_score_refuses_names_the_function() {
    let rows = Rows::new(100);
    let text = error(&rows, "fewest_t(number, class)").await;
    assert!(text.contains("fewest_t: t-score needs two classes") && text.contains("3 classes"), "{text}");
    let text = error(&rows, "fewest_correlation(text, class)").await;
    assert!(text.contains("fewest_correlation: ") && text.contains("3 classes"), "{text}");
    let text = error(&rows, "fewest_f(DISTINCT number, class)").await;
    assert!(text.contains("fewest_f(DISTINCT"), "{text}");
}

/// Windows that only grow are sums as any; those that move would need rows taken out again.
#[tokio::test]
async fn windows_that_move_are_refused() -> Result<()> {
    let rows = Rows::new(60);
    let query = |frame: &str| {
        format!(
            "SELECT fewest_variance(number) OVER (ORDER BY number ROWS BETWEEN {frame}) AS v FROM t ORDER BY number"
        )
    };
    let growing = numbers(&rows.session(2), &query("UNBOUNDED PRECEDING AND CURRENT ROW")).await?;
    assert_eq!(growing.last().unwrap()[0], one_of(&rows, "fewest_variance(number)").await?);
    let moving = numbers(&rows.session(2), &query("2 PRECEDING AND CURRENT ROW")).await.unwrap_err();
    assert!(moving.to_string().contains("fewest_variance"), "{moving}");
    Ok(())
}
