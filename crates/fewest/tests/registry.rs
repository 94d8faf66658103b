//! What holds for every registered method, and how parameters are read.

use std::collections::HashSet;

use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, Groups, Target};
use fewest::registry::{
    self, Built, Kind, Method, Parameter, Parameters, Range, Registry, Relation, TargetKind, Value,
};
use fewest_testkit::conformance::{
    check_by_place, check_by_row_order, check_selector, linked_problem, problem,
};

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("this must be an error"),
        Err(error) => error.to_string(),
    }
}

fn find(id: &str) -> &'static Method {
    match Registry::standard().find(id) {
        Ok(method) => method,
        Err(error) => panic!("{error}"),
    }
}

/// The defaults, but fewer trees: laws hold for any number, and are checked some hundred times. What is not
/// convex ends nearer to its stationary point, since laws compare to more digits than it promises.
fn quick(method: &Method) -> Result<Parameters, Error> {
    let assignments: &[&str] = match method.id {
        "boruta" => &["trees=100", "rounds=20"],
        "permutation-importance" => &["trees=60", "permutations=7"],
        // Forty samples tell no more levels apart.
        "gfssf" => &["bins=2", "alpha=0.2"],
        "ndfs" => &["tolerance=1e-9"],
        "group-l1-l21-clusters" => &["clusters=3", "tolerance=1e-9"],
        // All samples are neighbours: by the features of one view some are equally near.
        "mvfs" | "aumfs" => &["clusters=3", "neighbours=39", "smoothing=0.1", "tolerance=1e-9"],
        "netfs" => &["clusters=3", "tolerance=1e-9", "alpha_ratio=0.01"],
        "lufs" => &["clusters=3", "tolerance=1e-9"],
        _ => &[],
    };
    Parameters::parse(method, assignments)
}

/// Whether a method must be given classes: it knows no real target.
fn needs_classes(method: &Method) -> bool {
    !method.targets.contains(&TargetKind::Real) && method.targets.contains(&TargetKind::Classes)
}

#[test]
fn ids_and_parameter_names_are_unique_and_plain() {
    let mut ids = HashSet::new();
    for method in Registry::standard().methods().iter() {
        assert!(ids.insert(method.id), "{} is registered twice", method.id);
        assert!(
            method.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{}",
            method.id
        );
        assert!(!method.formula.contains('\n') && !method.targets.is_empty(), "{}", method.id);
        let mut names = HashSet::new();
        for parameter in method.parameters() {
            assert!(names.insert(parameter.name), "{}: {} twice", method.id, parameter.name);
            assert!(!parameter.description().contains('\n'), "{}: {}", method.id, parameter.name);
        }
        assert_eq!(find(method.id).id, method.id);
    }
    for id in ["hsic", "nocco", "hsic-lasso", "nocco-lasso"] {
        assert!(ids.contains(id), "{id}");
    }
}

/// [`problem`], with links for a method that has no answer without.
fn problem_of(method: &Method, classes: bool) -> Dataset {
    if method.id == "netfs" || method.id == "usfs" { linked_problem(classes) } else { problem(classes) }
}

fn without_target(data: &Dataset) -> Result<Dataset, Error> {
    data.clone().with_target(Target::None)
}

#[test]
fn unsupervised_methods_are_those_whose_defaults_run_without_a_target() -> Result<(), Error> {
    for method in Registry::standard().methods().iter() {
        let data = without_target(&problem_of(method, false))?;
        let selector = method.build(&quick(method)?)?.into_selector();
        let result = selector.select(&data, Budget::Count(2), &Context::default());
        assert_eq!(result.is_ok(), !method.is_supervised(), "{}: {result:?}", method.id);
    }
    Ok(())
}

#[test]
fn the_trace_ratio_takes_both_of_its_styles() -> Result<(), Error> {
    let method = find("trace-ratio");
    for (classes, style, fits) in [
        (true, "fisher", true),
        (true, "laplacian", true),
        (false, "laplacian", true),
        (false, "fisher", false),
    ] {
        let data = problem(true);
        let data = if classes { data } else { without_target(&data)? };
        let parameters = Parameters::parse(method, &[format!("style={style}")])?;
        let selector = method.build(&parameters)?.into_selector();
        let result = selector.select(&data, Budget::Count(2), &Context::default());
        assert_eq!(result.is_ok(), fits, "{style}: {result:?}");
    }
    Ok(())
}

#[test]
fn defaults_are_values_that_could_be_given() -> Result<(), Error> {
    for method in Registry::standard().methods().iter() {
        let defaults = Parameters::defaults(method);
        for parameter in method.parameters() {
            assert_eq!(
                defaults.get(parameter.name).is_some(),
                parameter.default.is_some(),
                "{}",
                parameter.name
            );
            if let Some(default) = &parameter.default {
                let given = Parameters::parse(method, &[format!("{}={default}", parameter.name)])?;
                assert_eq!(given.get(parameter.name), defaults.get(parameter.name));
            }
        }
    }
    Ok(())
}

#[test]
fn methods_are_what_they_say_and_keep_the_laws() -> Result<(), Error> {
    every_second_keeps_the_laws(0)
}

#[test]
fn methods_between_are_what_they_say_and_keep_the_laws() -> Result<(), Error> {
    every_second_keeps_the_laws(1)
}

/// Every second method from this one on: so two tests run at the same time, each of more than a minute.
fn every_second_keeps_the_laws(first: usize) -> Result<(), Error> {
    for method in Registry::standard().methods().iter().skip(first).step_by(2) {
        let built = method.build(&quick(method)?)?;
        match (&built, method.kind) {
            (Built::Scorer(_), Kind::Score) | (Built::Selector(_), Kind::Select | Kind::Sequence) => {}
            _ => panic!("{} is no {}", method.id, method.kind.name()),
        }
        // Shown where a check fails.
        println!("{}", method.id);
        let (selector, data) = (built.into_selector(), problem_of(method, needs_classes(method)));
        match method.id {
            // They rank, join or take features by the order of the table: no law of permuted columns.
            "distinct" | "fused-lasso" | "alpha-investing" | "grafting" | "osfs" | "fast-osfs" | "saola"
            | "ogfs" | "gfssf" | "usfs" => {
                check_by_place(&*selector, &data, 3);
            }
            // They take samples by the order of the table.
            "ofs" | "fsds" => check_by_row_order(&*selector, &data, 3),
            _ => check_selector(&*selector, &data, 3),
        }
    }
    Ok(())
}

#[test]
fn nested_methods_start_larger_selections_with_the_smaller_ones() -> Result<(), Error> {
    for method in Registry::standard().methods().iter().filter(|method| method.is_nested()) {
        let data = problem_of(method, needs_classes(method));
        let selector = method.build(&quick(method)?)?.into_selector();
        let order = |k: usize| -> Result<Vec<usize>, Error> {
            Ok(selector.select(&data, Budget::Count(k), &Context::seeded(5))?.order)
        };
        let largest = order(data.n_features())?;
        for k in 1..largest.len() {
            assert_eq!(order(k)?, largest[..k], "{}: the best {k}", method.id);
        }
    }
    Ok(())
}

/// Whether the word means something with classes only, or with real targets only.
fn refuses(word: &str, classes: bool) -> bool {
    let kind = if classes { TargetKind::Classes } else { TargetKind::Real };
    let learner = Registry::standard().find_learner(word).is_ok_and(|entry| !entry.targets.contains(&kind));
    let other = match classes {
        true => ["huber", "poisson", "cox"].as_slice(),
        false => &["delta", "plain-delta", "logistic", "multinomial", "hinge", "squared-hinge"],
    };
    learner || other.contains(&word)
}

/// The real target that a loss is for: counts, or times with whether there was an event; else that of `data`.
fn with_target_of(assignments: &[String], data: Dataset) -> Result<Dataset, Error> {
    let n = data.n_samples();
    let is = |loss: &str| assignments.contains(&format!("loss={loss}"));
    let numbers = (0..n).map(|i| (1 + 7 * i % 5) as f64);
    if is("poisson") {
        data.with_target(Target::real(numbers.collect())?)
    } else if is("cox") {
        data.with_target(Target::outputs(numbers.chain((0..n).map(|i| (i % 2) as f64)).collect(), n)?)
    } else {
        Ok(data)
    }
}

/// Whether the word makes a kernel indefinite for a method that needs a positive semidefinite one: it names
/// the way out, its own `spectrum`.
fn is_indefinite(id: &str, word: &str) -> bool {
    id == "rfmkl" && ["sigmoid", "mixed"].contains(&word)
}

/// Whether with this word the method would be no linear program, as it has more than an l1 norm.
fn is_no_linear_program(id: &str, word: &str) -> bool {
    ["elastic-net", "adaptive-lasso"].contains(&id) && word == "hinge"
}

/// The loss of a bound that regression alone has.
fn is_of_regression(parameter: &str, word: &str) -> bool {
    (parameter, word) == ("loss", "linear")
}

#[test]
fn every_word_of_every_list_builds_a_method_that_runs() -> Result<(), Error> {
    for method in Registry::standard().methods().iter() {
        let parameters = method.parameters();
        for parameter in &parameters {
            for word in parameter.range.words() {
                let mut assignments = vec![format!("{}={word}", parameter.name)];
                if method.id == "gfssf" {
                    // Forty samples tell no more levels apart.
                    assignments.extend(["bins=2".to_owned(), "alpha=0.2".to_owned()]);
                }
                for relation in &parameter.relations {
                    match relation {
                        Relation::With { parameter, words } => {
                            assignments.push(format!("{parameter}={}", words[0]));
                        }
                        Relation::Needs(other) => {
                            let is_other = |parameter: &&Parameter| parameter.name == *other;
                            let value = match parameters.iter().find(is_other).map(|other| other.range) {
                                Some(Range::Count(least)) => least.to_string(),
                                _ => "0.5".to_owned(),
                            };
                            assignments.push(format!("{other}={value}"));
                        }
                        _ => {}
                    }
                }
                let given = Parameters::parse(method, &assignments)?;
                for classes in [false, true] {
                    let (kind, other) = match classes {
                        true => (TargetKind::Classes, TargetKind::Real),
                        false => (TargetKind::Real, TargetKind::Classes),
                    };
                    if method.targets.contains(&other) && !method.targets.contains(&kind) {
                        continue;
                    }
                    let mut data = problem_of(method, classes);
                    if !classes {
                        data = with_target_of(&assignments, data)?;
                    }
                    if *word == "group" {
                        data = data.with_feature_groups(Groups::partition(vec![0, 0, 1, 1, 2, 2, 3, 3]))?;
                    }
                    let chosen = method.build(&given).and_then(|built| {
                        built.into_selector().select(&data, Budget::Count(2), &Context::default())
                    });
                    match chosen {
                        Ok(selection) => {
                            assert!(!selection.order.is_empty(), "{} {assignments:?}", method.id)
                        }
                        Err(error) => assert!(
                            assignments
                                .iter()
                                .filter_map(|assignment| assignment.split_once('='))
                                .any(|(_, word)| refuses(word, classes))
                                && matches!(error, Error::UnsupportedTarget { .. })
                                || is_indefinite(method.id, word)
                                    && matches!(error, Error::Indefinite { .. })
                                || is_no_linear_program(method.id, word)
                                    && matches!(error, Error::Unsupported { .. })
                                || classes
                                    && is_of_regression(parameter.name, word)
                                    && matches!(error, Error::InvalidParameter { .. }),
                            "{} {assignments:?}, classes {classes}: {error}",
                            method.id
                        ),
                    }
                }
            }
        }
    }
    Ok(())
}

/// Where methods share what refuses, it may name what they are, as "a wrapper".
#[test]
fn a_refusal_names_no_other_method() -> Result<(), Error> {
    let mut n_refusals = 0;
    for method in Registry::standard().methods().iter() {
        for (classes, kind) in [(false, TargetKind::Real), (true, TargetKind::Classes)] {
            if !method.targets.contains(&kind) {
                continue;
            }
            let data = problem_of(method, classes);
            let n = data.n_samples();
            let mut refused =
                vec![data.clone().with_sample_weights((0..n).map(|i| 1.0 + (i % 2) as f64).collect())?];
            if classes {
                let alone = Target::classes(vec![0; n], vec!["one".to_owned(), "two".to_owned()])?;
                refused.push(data.with_target(alone)?);
            }
            for data in refused {
                let selector = method.build(&quick(method)?)?.into_selector();
                if let Err(
                    Error::Unsupported { method: named, .. } | Error::UnsupportedTarget { method: named, .. },
                ) = selector.select(&data, Budget::Count(2), &Context::default())
                {
                    n_refusals += 1;
                    let is_other = named != method.id && Registry::standard().find(named).is_ok();
                    assert!(!is_other, "{}: {named}", method.id);
                }
            }
        }
    }
    assert!(n_refusals > 100, "{n_refusals}");
    Ok(())
}

#[test]
fn parameters_reach_the_method() -> Result<(), Error> {
    let data = problem(true);
    let scores = |assignments: &[&str]| -> Result<Vec<f64>, Error> {
        let method = find("hsic");
        match method.build(&Parameters::parse(method, assignments)?)? {
            Built::Scorer(scorer) => Ok(scorer.score(&data, &Context::default())?.values),
            _ => panic!("hsic scores"),
        }
    };
    let default = scores(&[])?;
    assert_eq!(scores(&["sigma_x=1", "output=delta", "form=auto"])?, default);
    for other in [
        "sigma_x=0.1",
        "sigma_x=median",
        "kernel=laplace",
        "kernel=table",
        "output=plain-delta",
        "output=gaussian",
        "normalization=unit",
        "estimator=block",
    ] {
        assert_ne!(scores(&[other])?, default, "{other}");
    }
    assert_ne!(scores(&["output=gaussian", "sigma_y=2"])?, scores(&["output=gaussian"])?);
    assert_ne!(scores(&["kernel=table", "sigma_x=median"])?, scores(&["kernel=table"])?);
    assert_ne!(scores(&["estimator=block", "block_size=5"])?, scores(&["estimator=block"])?);
    assert_ne!(scores(&["estimator=block", "permutations=1"])?, scores(&["estimator=block"])?);
    Ok(())
}

#[test]
fn messages_name_the_parameter_and_what_would_do() {
    let parse = |assignments: &[&str]| message(Parameters::parse(find("hsic-lasso"), assignments));
    assert_eq!(parse(&["sigma_x=-1"]), "parameter `sigma_x` is -1, but must be a number above 0, or median");
    assert_eq!(parse(&["ridge=inf"]), "parameter `ridge` is inf, but must be a number above 0");
    assert_eq!(
        parse(&["related=1.5"]),
        "parameter `related` is 1.5, but must be a whole number of at least 0"
    );
    assert_eq!(parse(&["rule=none"]), "parameter `rule` is none, but must be path|paper");
    assert_eq!(parse(&["forced=1,x"]).split(',').next(), Some("parameter `forced` is 1"));
    assert!(parse(&["sigma_x"]).contains("NAME=VALUE"));
    assert!(parse(&["rule=path", "rule=path"]).contains("given once"));
    let unknown = parse(&["lamda=1"]);
    assert!(unknown.contains("`lamda` is not supported by hsic-lasso: it takes lambda,"), "{unknown}");
    assert!(unknown.ends_with("did you mean `lambda`?"), "{unknown}");
    let unknown = message(Registry::standard().find("nothing-like-it"));
    assert!(unknown.ends_with("must be one that `fewest methods` lists"), "{unknown}");
}

#[test]
fn parameters_that_contradict_each_other_are_errors() {
    let build = |assignments: &[&str]| {
        let method = find("hsic-lasso");
        message(Parameters::parse(method, assignments).and_then(|parameters| method.build(&parameters)))
    };
    assert!(build(&["lambda=1", "lambda_ratio=0.5"]).contains("lambda_ratio"));
    assert!(build(&["lambda=1", "rule=paper"]).contains("rule"));
    assert!(build(&["ridge=1"]).contains("penalty=elastic-net"));
    assert!(build(&["permutations=2"]).contains("estimator=block"));
    assert!(build(&["output=delta", "sigma_y=1"]).contains("sigma_y"));
    assert!(build(&["sigma_y=1"]).contains("output=gaussian"));
}

/// A penalty that is given decides how many features there are; what only shares its name does not.
#[test]
fn a_given_penalty_decides_the_number_of_features() -> Result<(), Error> {
    let decides =
        |id, assignment| Ok::<_, Error>(Parameters::parse(find(id), &[assignment])?.decides_count());
    for id in ["hsic-lasso", "nocco-lasso", "fvm", "lasso", "elastic-net", "adaptive-lasso", "l21"] {
        assert!(decides(id, "lambda=1")? && decides(id, "lambda_ratio=0.5")?, "{id}");
    }
    assert!(decides("spam", "lambda_ratio=0.5")? && decides("hsfs", "lambda=0.1")?);
    assert!(!decides("linear-information", "lambda=0.5")? && !decides("hsic-lasso", "rule=paper")?);
    Ok(())
}

#[test]
fn values_are_typed() -> Result<(), Error> {
    let parameters =
        Parameters::parse(find("hsic-lasso"), &["sigma_x=median", "forced=3, 1", "related=0", "SOLVER=cd"]);
    assert!(parameters.is_err(), "names keep their case");
    let parameters =
        Parameters::parse(find("hsic-lasso"), &["sigma_x=median", "forced=3, 1", "related=0", "solver=CD"])?;
    assert_eq!(parameters.get("sigma_x"), Some(&Value::Word("median")));
    assert!(parameters.real("sigma_x").is_err());
    assert_eq!(parameters.features("forced"), [3, 1]);
    assert_eq!(parameters.count("related")?, 0);
    assert_eq!(parameters.word("solver")?, "cd");
    assert!(parameters.word("rle").is_err() && parameters.count("sigma_x").is_err());
    Ok(())
}

#[test]
fn near_names_are_found_and_far_ones_are_not() {
    let names = ["target", "age", "weight", "Height"];
    assert_eq!(registry::nearest("hieght", &names), ["Height", "weight"]);
    assert_eq!(registry::nearest("TARGET", &names), ["target"]);
    assert!(registry::nearest("zzzzzz", &names).is_empty());
    assert!(registry::nearest("", &names).is_empty());
}

/// What every method must survive: an answer or an error that says what is wrong, never a panic.
#[test]
fn hostile_data_give_an_answer_or_a_message() -> Result<(), Error> {
    let wave = |n: usize, step: usize| -> Vec<f64> {
        (0..n).map(|i| ((i * step + 3) % (n + 1)) as f64 / n as f64).collect()
    };
    let halves = |n: usize| -> Vec<bool> { (0..n).map(|i| i % 2 == 0).collect() };
    let table = |columns: &[Vec<f64>], target: Target| -> Result<Dataset, Error> {
        Dataset::new(DenseColumns::from_columns(columns)?, target)
    };
    let scaled = |factor: f64| wave(12, 5).iter().map(|value| value * factor).collect::<Vec<f64>>();
    // More features than samples, of which every third or all have squares that overflow.
    let wide = |every: usize| -> Vec<Vec<f64>> {
        let factor = |j: usize| if j.is_multiple_of(every) { 1e200 } else { 1.0 };
        (0..30).map(|j| wave(12, j + 1).iter().map(|value| value * factor(j)).collect()).collect()
    };
    let mut cases: Vec<(&str, Dataset)> = vec![
        ("wide, some huge", table(&wide(3), Target::from_labels(&halves(12)))?),
        ("wide, all huge", table(&wide(1), Target::from_labels(&halves(12)))?),
        ("wide, some huge, real", table(&wide(3), Target::real(wave(12, 5))?)?),
        ("one sample", table(&[vec![1.0], vec![2.0]], Target::from_labels(&["a"]))?),
        ("two samples", table(&[vec![1.0, 2.0], vec![2.0, 0.0]], Target::from_labels(&["a", "b"]))?),
        ("one feature", table(&[wave(12, 5)], Target::from_labels(&halves(12)))?),
        ("one class", table(&[wave(12, 5), wave(12, 7)], Target::from_labels(&["a"; 12]))?),
        ("all constant", table(&[vec![1.0; 12], vec![0.0; 12]], Target::from_labels(&halves(12)))?),
        ("duplicates", table(&[wave(12, 5), wave(12, 5), wave(12, 5)], Target::from_labels(&halves(12)))?),
        (
            "a class a sample",
            table(&[wave(12, 5), wave(12, 7)], Target::from_labels(&(0..12).collect::<Vec<_>>()))?,
        ),
        (
            "huge values",
            table(&[scaled(1e300), scaled(-1e300), wave(12, 7)], Target::from_labels(&halves(12)))?,
        ),
        ("tiny values", table(&[scaled(1e-300), wave(12, 7)], Target::from_labels(&halves(12)))?),
        (
            "large offset",
            table(
                &[scaled(1e-3).iter().map(|v| v + 1e9).collect(), wave(12, 7)],
                Target::from_labels(&halves(12)),
            )?,
        ),
        ("no target", table(&[wave(12, 5), wave(12, 7)], Target::None)?),
        ("constant target", table(&[wave(12, 5), wave(12, 7)], Target::real(vec![4.0; 12])?)?),
        ("huge target", table(&[wave(12, 5), wave(12, 7)], Target::real(scaled(1e300))?)?),
        ("one real sample", table(&[vec![1.0]], Target::real(vec![1.0])?)?),
    ];
    let lonely: Vec<&str> = (0..12).map(|i| if i == 4 { "rare" } else { "common" }).collect();
    cases.push(("a class of one", table(&[wave(12, 5), wave(12, 7)], Target::from_labels(&lonely))?));
    for method in Registry::standard().methods().iter() {
        for (name, data) in &cases {
            let selector = method.build(&quick(method)?)?.into_selector();
            match selector.select(data, Budget::Count(1), &Context::default()) {
                Ok(selection) => {
                    assert!(selection.order.len() <= 1, "{}, {name}", method.id);
                    let has_no_number = selection.scores.iter().any(|score| score.is_nan());
                    assert!(!has_no_number, "{}, {name}: {:?}", method.id, selection.scores);
                    let constant = data.constant_features()?;
                    assert!(selection.order.iter().all(|j| !constant.contains(j)), "{}, {name}", method.id);
                }
                Err(error) => {
                    let line = error.to_string();
                    assert!(!line.is_empty() && !line.contains('\n'), "{}, {name}: {line}", method.id);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn threads_change_nothing() -> Result<(), Error> {
    for method in Registry::standard().methods().iter() {
        let data = problem_of(method, needs_classes(method));
        let answer = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|_| Error::parameter("threads", threads, "available"))?;
            let selector = method.build(&quick(method)?)?.into_selector();
            pool.install(|| selector.select(&data, Budget::Count(4), &Context::seeded(3)))
        };
        let one = answer(1)?;
        for threads in [2, 7] {
            assert_eq!(one, answer(threads)?, "{} with {threads} threads", method.id);
        }
    }
    Ok(())
}

/// The table with each column changed by `change`, which gets its index.
fn with_columns(data: &Dataset, change: impl Fn(usize, &mut [f64])) -> Result<Dataset, Error> {
    let mut columns = vec![vec![0.0; data.n_samples()]; data.n_features()];
    for (j, column) in columns.iter_mut().enumerate() {
        data.x().copy_column(j, column)?;
        change(j, column);
    }
    data.clone().with_x(DenseColumns::from_columns(&columns)?)
}

/// Methods whose answer depends on the units of the features, as their pages say.
const DEPEND_ON_UNITS: &[&str] = &["variance", "trace-ratio"];

/// Powers of two change no digit, so all methods that standardise, rank or count give the same scores.
#[test]
fn units_of_features_change_nothing() -> Result<(), Error> {
    for method in Registry::standard().methods().iter() {
        let data = problem_of(method, needs_classes(method));
        let scaled = with_columns(&data, |j, column| {
            let unit = [1.0, 1024.0, 1.0 / 1_048_576.0][j % 3];
            column.iter_mut().for_each(|value| *value *= unit);
        })?;
        let selector = method.build(&quick(method)?)?.into_selector();
        let answer = |data: &Dataset| selector.select(data, Budget::Count(4), &Context::seeded(3));
        let (plain, scaled) = (answer(&data)?, answer(&scaled)?);
        let is_same = plain.order == scaled.order && plain.scores == scaled.scores;
        let id = method.id;
        assert_eq!(is_same, !DEPEND_ON_UNITS.contains(&id), "{id}: {:?}, {:?}", plain.scores, scaled.scores);
    }
    Ok(())
}

/// Values rounded to single precision give the same features and nearly the same scores.
#[test]
fn single_precision_changes_little() -> Result<(), Error> {
    for method in Registry::standard().methods().iter() {
        // No two differences are equal, and no value is on the edge of a bin: rounding decides nothing.
        let smooth =
            |_, column: &mut [f64]| column.iter_mut().for_each(|value| *value = (1.1 * *value).exp());
        let double = with_columns(&problem_of(method, needs_classes(method)), smooth)?;
        let single = with_columns(&double, |_, column| {
            column.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        })?;
        let selector = method.build(&quick(method)?)?.into_selector();
        let answer = |data: &Dataset| selector.select(data, Budget::Count(4), &Context::seeded(3));
        let (double, single) = (answer(&double)?, answer(&single)?);
        assert_eq!(double.order, single.order, "{}", method.id);
        let largest = double.scores.iter().fold(0.0_f64, |largest, score| largest.max(score.abs()));
        for (a, b) in double.scores.iter().zip(&single.scores) {
            // Where two classes can be told apart exactly, the penalty of fsv is flat: its objective says
            // little about how large a weight is.
            let share = if method.id == "fsv" { 1e-3 } else { 1e-5 };
            assert!((a - b).abs() <= share * largest, "{}: {a} and {b}", method.id);
        }
    }
    Ok(())
}
