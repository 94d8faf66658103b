#![expect(unreachable_pub, reason = "the macros declare public types")]

use super::*;
use crate::{Budget, Context, Dataset, Selection};

crate::words! {
    /// How much an edge counts.
    #[derive(Default)]
    pub enum Weights {
        /// All the same.
        #[default]
        Feature = "feature",
        /// By group.
        Group = "group" selects_groups,
    }
}

crate::options! {
    /// How numbers become levels.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Levels {
        /// Number of bins.
        pub bins: usize = 5, Between(2, 65536);
        /// Whether whole numbers are levels.
        pub integers: bool = false;
    }
}

crate::choice! {
    /// How something is estimated.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Estimator {
        /// From levels.
        Discrete(Levels) = "discrete",
        /// From windows.
        Parzen {
            /// Width of the windows.
            width: KernelWidth = KernelWidth::Value(1.0);
            /// Most samples.
            most: usize = 10, Count(1);
        } = "parzen",
        /// From neighbours.
        Neighbours {
            /// Told by the other.
            most: usize = 10, Count(1);
        } = "ksg";
        /// For programs only.
        Given(f64),
    }
}

crate::options! {
    /// A method.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Example {
        /// How it is
        /// estimated.
        pub estimator: Estimator = Estimator::Parzen { width: KernelWidth::Value(2.0), most: 7 };
        /// Strength.
        pub regularization: Regularization = Regularization::Ratio(0.1), offers(ValueOrZero, Ratio, CrossValidated, Paper);
        /// Level of a test.
        pub alpha: Option<f64> = None, ProperFraction, decides_count;
        /// What the level is of.
        pub corrected: bool = true, needs(alpha);
        /// Which are together.
        pub weights: Weights = Weights::Feature;
        /// Features that must be in.
        pub forced: Vec<usize> = Vec::new();
        /// Degree.
        pub degree: u32 = 2, Count(1);
        /// Not told.
        pub secret: usize = 3, hidden;
    }
}

impl Selector for Example {
    fn select(&self, data: &Dataset, _: Budget, _: &Context<'_>) -> Result<Selection, Error> {
        Ok(Selection::new(Vec::new(), Vec::new(), data.n_features(), crate::Status::Converged))
    }
}

static METHODS: &[Method] = &[Method::selector::<Example>("example", "example", "none", TargetKind::ANY)];

fn parse(assignments: &[&str]) -> Result<Example, Error> {
    Example::from_parameters(&Parameters::parse(&METHODS[0], assignments)?)
}

fn message(assignments: &[&str]) -> String {
    match parse(assignments) {
        Ok(found) => panic!("this must be an error: {found:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_defaults_of_parameters_are_those_of_the_struct() -> Result<(), Error> {
    assert_eq!(parse(&[])?, Example::default());
    // Given one by one, each with what it needs, they change nothing.
    for parameter in METHODS[0].parameters() {
        let Some(default) = &parameter.default else { continue };
        let mut assignments = vec![format!("{}={default}", parameter.name)];
        for relation in &parameter.relations {
            match relation {
                Relation::With { parameter, words } if !words.contains(&"parzen") => {
                    assignments.push(format!("{parameter}={}", words[0]));
                }
                Relation::Needs(other) => assignments.push(format!("{other}=0.5")),
                _ => {}
            }
        }
        let parameters = Parameters::parse(&METHODS[0], &assignments)?;
        assert!(METHODS[0].build(&parameters).is_ok(), "{assignments:?}");
        if assignments.len() == 1 {
            assert_eq!(Example::from_parameters(&parameters)?, Example::default(), "{assignments:?}");
        }
    }
    Ok(())
}

#[test]
fn parameters_are_told_in_the_order_of_the_fields() {
    let names: Vec<&str> = METHODS[0].parameters().iter().map(|parameter| parameter.name).collect();
    let of_the_penalty = ["lambda", "lambda_ratio", "lambda_folds", "rule"];
    let expected = [
        &["estimator", "bins", "integers", "width", "most"],
        &of_the_penalty[..],
        &["alpha", "corrected", "weights", "forced", "degree"],
    ];
    assert_eq!(names, expected.concat());
    assert_eq!(METHODS[0].parameters()[0].description(), "how it is estimated");
}

#[test]
fn values_reach_their_fields() -> Result<(), Error> {
    let levels = Levels { bins: 9, integers: true };
    let found = parse(&["estimator=discrete", "bins=9", "integers=TRUE", "forced=3,1", "degree=4"])?;
    let expected = Example {
        estimator: Estimator::Discrete(levels),
        forced: vec![3, 1],
        degree: 4,
        ..Example::default()
    };
    assert_eq!(found, expected);
    assert_eq!(
        parse(&["width=median"])?.estimator,
        Estimator::Parzen { width: KernelWidth::Median, most: 7 }
    );
    assert_eq!(parse(&["estimator=ksg", "most=2"])?.estimator, Estimator::Neighbours { most: 2 });
    Ok(())
}

#[test]
fn a_regularization_is_told_in_one_way() -> Result<(), Error> {
    let told = |assignments: &[&str]| Ok::<_, Error>(parse(assignments)?.regularization);
    assert_eq!(told(&[])?, Regularization::Ratio(0.1));
    assert_eq!(told(&["lambda=0"])?, Regularization::Value(0.0));
    assert_eq!(told(&["lambda_ratio=1"])?, Regularization::Ratio(1.0));
    assert_eq!(told(&["lambda_folds=4"])?, Regularization::CrossValidated { folds: 4 });
    assert_eq!(told(&["rule=paper"])?, Regularization::Paper);
    assert_eq!(told(&["rule=path"])?, Regularization::Count);
    let beside = "but must be left out: `lambda` is given, which decides in its place";
    assert_eq!(
        message(&["lambda=1", "lambda_ratio=0.5"]),
        format!("parameter `lambda_ratio` is 0.5, {beside}")
    );
    assert_eq!(message(&["rule=paper", "lambda=1"]), format!("parameter `rule` is paper, {beside}"));
    let check = |regularization| Example { regularization, ..Example::default() }.check();
    assert!(check(Regularization::Value(0.0)).is_ok() && check(Regularization::Count).is_ok());
    assert!(check(Regularization::Value(-1.0)).is_err() && check(Regularization::Ratio(2.0)).is_err());
    assert!(check(Regularization::CrossValidated { folds: 1 }).is_err());
    // What a method does not offer is an error, not the default.
    let field = FieldInfo { offers: &[Offer::Ratio], ..FieldInfo::new("regularization", "") };
    let error = Field::check_field(&Regularization::Paper, &field).map_err(|error| error.to_string());
    assert!(error.is_err_and(|error| error.contains("lambda_ratio")));
    Ok(())
}

#[test]
fn what_decides_the_number_of_features_is_typed() -> Result<(), Error> {
    let decides =
        |assignments: &[&str]| Ok::<_, Error>(Parameters::parse(&METHODS[0], assignments)?.decides_count());
    assert!(!decides(&[])? && !decides(&["rule=paper"])? && !decides(&["degree=3"])?);
    for given in ["lambda=1", "lambda_ratio=0.5", "lambda_folds=5", "alpha=0.1"] {
        assert!(decides(&[given])?, "{given}");
    }
    Ok(())
}

#[test]
fn groups_are_selected_by_a_typed_word() -> Result<(), Error> {
    let group = METHODS[0].group_parameter();
    assert_eq!(group.and_then(|parameter| parameter.group_word), Some("group"));
    assert!(Parameters::parse(&METHODS[0], &["weights=group"])?.selects_groups());
    assert!(!Parameters::defaults(&METHODS[0]).selects_groups());
    Ok(())
}

#[test]
fn parameters_that_mean_nothing_are_errors_and_not_listed() -> Result<(), Error> {
    assert_eq!(
        message(&["bins=3"]),
        "parameter `bins` is 3, but must be left out: it has a meaning only where estimator=discrete"
    );
    assert_eq!(
        message(&["estimator=discrete", "most=3"]),
        "parameter `most` is 3, but must be left out: it has a meaning only where estimator=parzen or ksg"
    );
    assert_eq!(
        message(&["corrected=false"]),
        "parameter `corrected` is false, but must be left out: it has a meaning only where alpha is given"
    );
    let listed = |assignments: &[&str]| {
        let parameters = Parameters::parse(&METHODS[0], assignments)?;
        let names: Vec<&str> = parameters.iter().map(|(name, _)| name).collect();
        Ok::<_, Error>(names.join(" "))
    };
    assert_eq!(listed(&[])?, "estimator width most lambda_ratio weights degree");
    assert!(listed(&["estimator=discrete"])?.starts_with("estimator bins integers lambda_ratio"));
    assert!(listed(&["alpha=0.1"])?.contains("alpha corrected"));
    Ok(())
}

#[test]
fn values_set_by_programs_are_checked_against_the_same_ranges() {
    let message = |example: Example| example.check().err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(message(Example::default()), "");
    let estimator = Estimator::Discrete(Levels { bins: 1, integers: false });
    assert_eq!(
        message(Example { estimator, ..Example::default() }),
        "parameter `bins` is 1, but must be a whole number from 2 to 65536"
    );
    let estimator = Estimator::Parzen { width: KernelWidth::Value(f64::INFINITY), most: 1 };
    assert_eq!(
        message(Example { estimator, ..Example::default() }),
        "parameter `width` is inf, but must be a number above 0, or median"
    );
    assert!(message(Example { alpha: Some(f64::NAN), ..Example::default() }).contains("`alpha` is NaN"));
    assert!(message(Example { degree: 0, ..Example::default() }).contains("`degree` is 0"));
}

/// The range of `degree` has no upper bound, but its type has.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_number_that_its_type_does_not_hold_is_refused() -> Result<(), Error> {
    assert_eq!(parse(&["degree=4294967295"])?.degree, u32::MAX);
    assert_eq!(
        message(&["degree=4294967296"]),
        "parameter `degree` is 4294967296, but must be a whole number from 0 to 4294967295"
    );
    Ok(())
}

#[test]
fn a_variant_for_programs_only_is_no_parameter() {
    assert_eq!(Estimator::WORDS, ["discrete", "parzen", "ksg"]);
    let given = Example { estimator: Estimator::Given(0.5), ..Example::default() };
    assert!(given.check().is_ok());
    let names: Vec<&str> = given.parameters().iter().map(|parameter| parameter.name).collect();
    assert!(names.starts_with(&["estimator", "bins", "integers", "width", "most"]), "{names:?}");
    assert!(parse(&["estimator=given"]).is_err());
}

#[test]
fn a_method_may_start_from_other_options() -> Result<(), Error> {
    let other =
        METHODS[0].clone().with_options(|| Draft::selector(Example { degree: 5, ..Example::default() }));
    let degree = |method: &Method| Parameters::defaults(method).count("degree");
    assert_eq!((degree(&METHODS[0])?, degree(&other)?, other.id), (2, 5, "example"));
    Ok(())
}

#[test]
fn a_name_from_elsewhere_has_a_hint() {
    // `lambda_ratio` is the share of the largest; `strength` is no part of a name and like none.
    for (given, hint) in [
        ("ratio", "did you mean `lambda_ratio`?"),
        ("Width", "did you mean `width`?"),
        ("price", "did you mean `lambda`?"),
        ("fold", "did you mean `lambda_folds`?"),
    ] {
        let message = message(&[&format!("{given}=1")]);
        assert!(message.contains(hint), "{message}");
    }
    let message = message(&["strength=1"]);
    assert!(!message.contains("did you mean"), "{message}");
}
