//! Which measurements tell whether a patient dies, for women and for men: a statistic by group, and the
//! columns ranked by it.
//!
//! `cargo run --example by_group`, in the folder `cluster` of the repository; with a table of your own,
//! `cargo run --example by_group -- TABLE.csv TARGET GROUP`. The target is integers or text, the other
//! columns numbers or text.

use datafusion::error::Result;
use datafusion::prelude::*;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/testkit/data/heart_failure.csv");

#[tokio::main]
async fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [table, target, group] = match given.as_slice() {
        [] => [TABLE, "DEATH_EVENT", "sex"],
        [table, target, group] => [table.as_str(), target, group],
        _ => return datafusion::common::plan_err!("give a table, its target and a group, or nothing"),
    };
    let mut context = SessionContext::new();
    fewest_datafusion::register_all(&mut context)?;
    context.register_csv("patients", table, CsvReadOptions::new()).await?;

    // One row a feature and group: a query for each column, put together.
    let columns = context.table("patients").await?.schema().columns();
    let of_column = |name: &str| {
        format!(
            r#"SELECT "{group}", '{name}' AS feature, fewest_f("{name}", "{target}") AS f,
                      fewest_f_p_value("{name}", "{target}") AS p
               FROM patients GROUP BY "{group}""#
        )
    };
    let features = columns.iter().map(Column::name).filter(|name| ![target, group].contains(name));
    let all = features.map(of_column).collect::<Vec<_>>().join(" UNION ALL ");
    let best = format!(r#"SELECT * FROM ({all}) ORDER BY "{group}", f DESC NULLS LAST"#);
    context.sql(&best).await?.show().await
}
