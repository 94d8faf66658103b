//! Features of one source that follow the shape of the data in all sources.

mod geometry;
mod semidefinite;
mod sparse;
mod truncated;
mod variance;

use fewest_core::method::KernelWidth;
use fewest_core::{Dataset, Error, Selection, ViewWeight, Views, options};

pub use sparse::{GpcovSpca, SparseSolver};
pub use variance::GpcovVar;

options! {
    /// The geometry of several sources, and the source that features are selected from.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Sources {
        /// View to select from, counted from 0; without, features of all views are candidates.
        ///
        /// The geometry is that of all views in either case.
        pub view: Option<usize> = None, Count(0);
        /// Scale of the affinities exp(−d²/t) of each view; median: the median squared distance in the view
        /// (of 4096 samples where there are more).
        pub t: KernelWidth = KernelWidth::Median;
    }
}

impl Sources {
    /// The features that may be selected.
    fn candidates(&self, views: &Views) -> Result<Vec<usize>, Error> {
        match self.view {
            None => Ok((0..views.of_feature().len()).collect()),
            Some(view) => views.sets().into_iter().nth(view).ok_or_else(|| {
                let names = views.names().join(", ");
                Error::parameter(
                    "view",
                    view,
                    format!("below the number of views, {} ({names})", views.n_views()),
                )
            }),
        }
    }
}

/// What all these selections say of the views, and of candidates that are constant.
fn finish(selection: &mut Selection, views: &Views, n_constant: usize) {
    let share = 1.0 / views.n_views() as f64;
    selection.views = ViewWeight::of(views.names(), &vec![share; views.n_views()]);
    selection.note_constant_features(n_constant);
}

/// The views of `data`, for a method that neither weighs samples nor does without views.
fn views_of<'a>(data: &'a Dataset, method: &'static str) -> Result<&'a Views, Error> {
    data.refuse_sample_weights(method)?;
    data.needed_views(method)
}
