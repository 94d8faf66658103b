//! What must hold for every registered method to which samples or features arrive.

use fewest::core::{
    Arrives, Budget, Context, Dataset, DenseColumns, Error, StreamSelector, Target, derive_seed,
};
use fewest::registry::{Method, Parameters, Registry, TargetKind};
use fewest::streams::{DriftOptions, Drifting, Fading, ScoreSums};

/// Samples of a hostile table: enough for several blocks of each method.
const ROWS: usize = 60;

/// Numbers between 0 and 1 that look random.
fn noise(j: u64) -> Vec<f64> {
    (0..ROWS as u64).map(|i| (derive_seed(j, i) >> 11) as f64 / (1_u64 << 53) as f64).collect()
}

/// Features that are numbers, some of which no method can square or tell from 0 or from each other.
fn tables() -> Result<Vec<(&'static str, DenseColumns)>, Error> {
    let times = |factor: f64, j: u64| noise(j).iter().map(|value| value * factor).collect::<Vec<f64>>();
    let mut late = noise(3);
    late[ROWS - 5..].fill(1e300);
    let one = |value: f64| (0..ROWS).map(|i| if i == 40 { value } else { 0.0 }).collect::<Vec<f64>>();
    [
        ("one of 1e200", vec![noise(1), times(1e200, 2)]),
        ("all of 1e300", (1..=25).map(|j| times(if j % 2 == 0 { 1e300 } else { -1e300 }, j)).collect()),
        ("1e300 at the end", vec![noise(1), noise(2), late]),
        ("of 1e-300", vec![times(1e-300, 1), noise(2)]),
        ("constant", vec![vec![7.0; ROWS], vec![0.0; ROWS], vec![1e200; ROWS]]),
        ("copies", vec![noise(1), noise(1), noise(1)]),
        ("a single value", vec![one(1.0), one(1e300), noise(4)]),
        ("large offset", vec![times(1e-3, 1).iter().map(|value| value + 1e9).collect(), noise(2)]),
    ]
    .into_iter()
    .map(|(name, columns)| Ok((name, DenseColumns::from_columns(&columns)?)))
    .collect()
}

fn targets(method: &Method) -> Result<Vec<Target>, Error> {
    let all = [
        Target::from_labels(&noise(9).iter().map(|value| *value < 0.4).collect::<Vec<bool>>()),
        Target::real(noise(9).iter().map(|value| value * 1e200).collect())?,
        Target::real(noise(9))?,
        Target::None,
    ];
    let has = |kind: TargetKind| method.targets.contains(&kind);
    let is_taken = |target: &Target| match target {
        Target::Class(_) => has(TargetKind::Classes),
        Target::Real(_) => has(TargetKind::Real),
        _ => method.targets.is_empty() || has(TargetKind::None),
    };
    Ok(all.into_iter().filter(is_taken).collect())
}

/// Feeds all of `data`, so many samples or features at a time, and looks at what is selected in between.
fn feed(stream: &mut dyn StreamSelector, data: &Dataset, arrives: Arrives, step: usize) -> Result<(), Error> {
    let context = Context::default();
    let all = if arrives == Arrives::Samples { data.n_samples() } else { data.n_features() };
    for first in (0..all).step_by(step) {
        let part = first..all.min(first + step);
        let arrived = match arrives {
            Arrives::Samples => data.copy_rows(part)?,
            _ => data.feature_subset(&part.collect::<Vec<_>>())?,
        };
        // A message, and a stream that goes on with what comes next.
        let updated = stream.update(&arrived, &context).err();
        let selected = stream.selection(Budget::Count(1));
        if let Ok(selection) = &selected {
            assert!(selection.order.len() <= 1 && !selection.scores.iter().any(|score| score.is_nan()));
        }
        for error in [updated, selected.err()] {
            let line = error.map(|error| error.to_string());
            assert!(line.as_ref().is_none_or(|line| !line.is_empty() && !line.contains('\n')), "{line:?}");
        }
    }
    Ok(())
}

#[test]
fn hostile_values_that_arrive_give_an_answer_or_a_message() -> Result<(), Error> {
    let mut n_streams = 0;
    for method in Registry::standard().methods().iter() {
        let Some(arrives) = method.arrives else { continue };
        for (name, columns) in tables()? {
            for target in targets(method)? {
                let data = Dataset::new(columns.clone(), target)?;
                for step in [1, 7] {
                    let parameters = Parameters::defaults(method);
                    let Ok(mut stream) = method.stream(&parameters, Budget::Count(1), 0) else { continue };
                    println!("{}, {name}, {step}", method.id);
                    feed(&mut *stream, &data, arrives, step)?;
                    n_streams += 1;
                    // The same sums where older samples lose weight.
                    if let Ok(score) = method.fading(&parameters) {
                        let sums = ScoreSums::new(score)?;
                        feed(&mut Fading::new(sums.clone(), 10.0, 3)?, &data, arrives, step)?;
                        let options = DriftOptions { block: 4, watched: 1, ..DriftOptions::default() };
                        feed(&mut Drifting::new(sums, options)?, &data, arrives, step)?;
                    }
                }
            }
        }
    }
    assert!(n_streams > 200, "{n_streams}");
    Ok(())
}
