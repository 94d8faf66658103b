//! What the methods are told, as parameters.

use fewest_core::method::{KernelWidth, Method, Options, Parameters, Regularization};
use fewest_core::{Budget, Context, Error, Selector};
use fewest_mkl::{BaseKernel, FeatureKernel, METHODS, MikFs, Nmmklr, Rfmkl};
use fewest_testkit::conformance::problem;

fn method(id: &str) -> &'static Method {
    METHODS.iter().find(|method| method.id == id).unwrap()
}

fn told<T: Options + Default>(id: &str, assignments: &[&str]) -> Result<T, Error> {
    T::from_parameters(&Parameters::parse(method(id), assignments)?)
}

#[test]
fn a_mixture_has_the_parameters_of_all_its_kernels() -> Result<(), Error> {
    let parameters = method("mik-fs").parameters();
    let condition = |name: &str| {
        parameters.iter().find(|parameter| parameter.name == name).and_then(|parameter| parameter.condition())
    };
    assert_eq!(condition("scale").as_deref(), Some("kernel=sigmoid, polynomial or mixed"));
    assert_eq!(condition("sigma").as_deref(), Some("kernel=gaussian or mixed"));
    let found: MikFs = told("mik-fs", &["kernel=mixed", "scale=2", "sigma=3", "degree=4"])?;
    let [sigmoid, gaussian, polynomial] = &found.kernel.0[..] else { panic!("{:?}", found.kernel) };
    assert!(matches!(sigmoid, BaseKernel::Sigmoid { scale: 2.0, shift: 0.0 }));
    assert!(matches!(gaussian, BaseKernel::Gaussian { sigma: KernelWidth::Value(3.0) }));
    assert!(matches!(polynomial, BaseKernel::Polynomial { scale: 2.0, degree: 4, offset: 1.0 }));
    assert!(told::<MikFs>("mik-fs", &["sigma=3"]).is_err());
    assert!(told::<MikFs>("mik-fs", &["kernel=polynomial", "degree=65"]).is_err());
    Ok(())
}

#[test]
fn options_take_in_what_is_shared() -> Result<(), Error> {
    let found: Nmmklr = told("nmmklr", &["c=2", "kernel=gaussian", "sigma=3", "standardise_target=false"])?;
    assert!((found.c, found.tau, found.standardise_target) == (2.0, 0.0, false));
    assert!(matches!(found.options.kernel, FeatureKernel::Gaussian { sigma: KernelWidth::Value(3.0), .. }));
    let grouped = Parameters::parse(method("nmmkl"), &["weights=group"])?;
    assert!(grouped.selects_groups() && !grouped.decides_count());
    Ok(())
}

/// A ratio is the same as the penalty that it comes to; without either the defaults do not decide the count.
#[test]
fn a_penalty_is_told_by_its_value_or_as_a_ratio() -> Result<(), Error> {
    for id in ["mik-fs", "rfmkl", "gmkl", "mkl"] {
        assert!(!Parameters::defaults(method(id)).decides_count(), "{id}");
        assert!(Parameters::parse(method(id), &["lambda_ratio=0.3"])?.decides_count(), "{id}");
    }
    let with = |regularization| Rfmkl { regularization, ..Rfmkl::default() };
    let select = |method: Rfmkl| method.select(&problem(true), Budget::Auto, &Context::default());
    let ratio = select(with(Regularization::Ratio(0.2)))?;
    let lambda = ratio.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
    let value = select(with(Regularization::Value(lambda)))?;
    assert!(!value.order.is_empty());
    assert_eq!((value.order, value.scores), (ratio.order, ratio.scores));
    assert!(matches!(select(with(Regularization::Count)), Err(Error::InvalidParameter { .. })));
    assert!(matches!(select(with(Regularization::Value(0.0))), Err(Error::InvalidParameter { .. })));
    Ok(())
}
