//! What every stream keeps: a state that is saved and taken by another stream goes on bit for bit.

use fewest_core::method::{Method, Parameters};
use fewest_core::{
    Arrives, Budget, Context, Dataset, DenseColumns, Error, StreamSelector, Target, derive_seed,
};
use fewest_streams::METHODS;

const N: usize = 80;
const FEATURES: usize = 60;

/// Parameters that a stream needs, and others that change what it holds.
fn cases(id: &str) -> Vec<Vec<&'static str>> {
    match id {
        "alpha-investing" => vec![vec![], vec!["test=lr", "wealth=0.2"], vec!["test=ll"]],
        "grafting" => vec![vec!["lambda=0.25"], vec!["lambda=0.1"]],
        "osfs" => vec![vec![], vec!["test=g2", "bins=3", "alpha=0.2"]],
        "fast-osfs" => vec![vec![], vec!["outer_analysis=each"], vec!["test=g2", "bins=2", "alpha=0.3"]],
        "saola" => vec![vec![], vec!["test=g2", "bins=3", "alpha=0.2"]],
        "ogfs" => vec![vec![], vec!["groups=consecutive", "width=7", "lambda=0.05"]],
        "gfssf" => vec![vec!["bins=2"], vec!["bins=3", "groups=consecutive", "width=7", "cost=groups"]],
        "ofs" => vec![vec!["kept=6", "margin=1"], vec!["kept=4", "input=partial", "margin=1"]],
        "fsds" => vec![vec![], vec!["sketch_rows=4", "block_rows=7"]],
        _ => vec![vec![]],
    }
}

fn noise(i: usize, j: usize) -> f64 {
    derive_seed(j as u64, i as u64) as f64 / u64::MAX as f64 - 0.5
}

fn target(rows: std::ops::Range<usize>) -> Target {
    let high = |i: usize| noise(i, 3) - 0.8 * noise(i, 7) + 0.2 * noise(i, 1000) > 0.0;
    let names = vec!["no".to_owned(), "yes".to_owned()];
    Target::classes(rows.map(|i| u32::from(high(i))).collect(), names).unwrap()
}

/// What arrives one after the other.
fn arrivals(arrives: Arrives) -> Vec<Dataset> {
    let table = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let values: Vec<Vec<f64>> =
            columns.clone().map(|j| rows.clone().map(|i| noise(i, j)).collect()).collect();
        let names = columns.map(|j| format!("x{j}")).collect();
        let x = DenseColumns::from_columns(&values).unwrap();
        Dataset::new(x, target(rows)).unwrap().with_feature_names(names).unwrap()
    };
    match arrives {
        Arrives::Features => (0..FEATURES).map(|j| table(0..N, j..j + 1)).collect(),
        // Of different sizes.
        _ => (0..40).map(|part: usize| table(part * 10..part * 10 + 1 + part % 9, 0..30)).collect(),
    }
}

fn opened(method: &Method, parameters: &[&str]) -> Box<dyn StreamSelector> {
    let parameters = Parameters::parse(method, parameters).unwrap();
    method.stream(&parameters, Budget::Auto, 5).unwrap()
}

fn told(stream: &dyn StreamSelector, arrives: Arrives) -> String {
    let selection = stream.selection(Budget::Auto).unwrap();
    let names: Vec<Option<&str>> = selection.order.iter().map(|&j| stream.name(j)).collect();
    if arrives == Arrives::Features {
        for (&j, name) in selection.order.iter().zip(&names) {
            assert_eq!(*name, Some(format!("x{j}").as_str()), "what is selected is held with its name");
        }
    }
    format!("{selection:?} {:?} {names:?}", stream.held())
}

/// All but usfs, which needs links between the samples.
fn methods() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|method| method.id != "usfs")
}

#[test]
fn every_method_is_one_to_which_data_arrive() {
    assert!(methods().all(|method| method.arrives.is_some()));
}

/// At every batch a new stream takes the state of the one before.
#[test]
fn a_state_that_is_saved_and_restored_goes_on_bit_for_bit() {
    let context = Context::seeded(5);
    for method in methods() {
        let arrives = method.arrives.unwrap();
        for parameters in cases(method.id) {
            let mut whole = opened(method, &parameters);
            let mut parts = opened(method, &parameters);
            for (at, arrived) in arrivals(arrives).iter().enumerate() {
                let state = parts.save().unwrap();
                parts = opened(method, &parameters);
                parts.restore(&state).unwrap();
                whole.update(arrived, &context).unwrap();
                parts.update(arrived, &context).unwrap();
                let place = format!("{} {parameters:?} after {at}", method.id);
                assert_eq!(whole.save().unwrap(), parts.save().unwrap(), "{place}");
                assert_eq!(told(&*whole, arrives), told(&*parts, arrives), "{place}");
            }
            assert!(!whole.selection(Budget::Auto).unwrap().order.is_empty(), "{} {parameters:?}", method.id);
        }
    }
}

/// A stream refuses what is no state of its own, and stays as it was.
#[test]
fn other_states_are_refused_and_change_nothing() {
    let context = Context::seeded(5);
    for method in methods() {
        let arrives = method.arrives.unwrap();
        let all = cases(method.id);
        let mut stream = opened(method, &all[0]);
        arrivals(arrives).iter().take(25).for_each(|arrived| stream.update(arrived, &context).unwrap());
        let (state, before) = (stream.save().unwrap(), told(&*stream, arrives));
        // A whole multiple of nothing: cut anywhere, it is no state.
        let step = (state.len() / 50).max(1);
        for len in (0..state.len()).step_by(step).chain([state.len() - 1]) {
            let found = stream.restore(&state[..len]);
            assert!(matches!(found, Err(Error::InvalidParameter { .. })), "{} {len}", method.id);
            assert_eq!(told(&*stream, arrives), before, "{} {len}", method.id);
        }
        let longer = [&state[..], &[0]].concat();
        assert!(stream.restore(&longer).is_err(), "{}", method.id);
        for other in methods().filter(|other| other.id != method.id) {
            let mut other = opened(other, &cases(other.id)[0]);
            assert!(other.restore(&state).is_err());
        }
        for parameters in &all[1..] {
            let error = opened(method, parameters).restore(&state).unwrap_err();
            assert!(error.to_string().contains("state"), "{error}");
        }
        assert_eq!(told(&*stream, arrives), before, "{}", method.id);
    }
}
