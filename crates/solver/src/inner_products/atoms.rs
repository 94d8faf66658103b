//! Properties of single atoms.

/// The properties of a target `b` and atoms `Aⱼ` that [`InnerProducts`](crate::InnerProducts) gives before
/// any two atoms are multiplied.
#[derive(Debug, Clone, PartialEq)]
pub struct Atoms {
    /// `‖b‖²`.
    pub target_squared_norm: f64,
    /// `⟨Aⱼ, b⟩` of every atom.
    pub target_products: Vec<f64>,
    /// `‖Aⱼ‖²` of every atom.
    pub squared_norms: Vec<f64>,
    /// How many atoms can be multiplied repeatedly without building them again: a working set should not be
    /// much larger.
    pub n_cached: usize,
    /// The largest error of an atom or the target, relative to its norm: 0 if they are exact, infinite if
    /// it is unknown.
    pub approximation_error: f64,
    /// Whether no two atoms have a negative product. Then `⟨Aⱼ, b⟩` bounds the correlation of atom `j`
    /// with the residual of any non-negative combination, which avoids most of a check over all atoms.
    pub products_are_nonnegative: bool,
    /// The share of its norm by which each atom loosens
    /// [`lower_bounds`](crate::InnerProducts::lower_bounds); empty where the bounds are the products.
    pub lower_bound_errors: Vec<f64>,
}

/// No atoms. As a default for other atoms: exact, all cached, without further properties.
impl Default for Atoms {
    fn default() -> Self {
        Self {
            target_squared_norm: 0.0,
            target_products: Vec::new(),
            squared_norms: Vec::new(),
            n_cached: usize::MAX,
            approximation_error: 0.0,
            products_are_nonnegative: false,
            lower_bound_errors: Vec::new(),
        }
    }
}
