//! Features that cannot be read.

use fewest_linear::{ElasticNet, Lasso, Spam};
use fewest_testkit::conformance::{a_column_that_fails_is_an_error, problem};

#[test]
fn a_feature_that_cannot_be_read_is_an_error() {
    for classes in [false, true] {
        a_column_that_fails_is_an_error(&Lasso::default(), &problem(classes), 3);
        a_column_that_fails_is_an_error(&ElasticNet::default(), &problem(classes), 3);
        a_column_that_fails_is_an_error(&Spam::default(), &problem(classes), 3);
    }
}
