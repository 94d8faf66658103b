//! What is known of atoms one by one.

/// A target `b` and atoms `Aⱼ` as [`InnerProducts`](crate::InnerProducts) tells of them, before any two atoms
/// are multiplied.
#[derive(Debug, Clone, PartialEq)]
pub struct Atoms {
    /// `‖b‖²`.
    pub target_squared_norm: f64,
    /// `⟨Aⱼ, b⟩` of every atom.
    pub target_products: Vec<f64>,
    /// `‖Aⱼ‖²` of every atom.
    pub squared_norms: Vec<f64>,
    /// How many atoms can be multiplied again and again without being built anew: a working set should not be
    /// much larger.
    pub n_cached: usize,
    /// How far an atom, or the target, may be from what it stands for, as a share of its norm: 0 where they
    /// are exact, infinite where it is not known.
    pub approximation_error: f64,
    /// Whether no two atoms have a negative product. Then `⟨Aⱼ, b⟩` bounds the correlation of atom `j`
    /// with the residual of any non-negative combination, which spares most of a check over all atoms.
    pub products_are_nonnegative: bool,
    /// The share of its norm by which each atom loosens
    /// [`lower_bounds`](crate::InnerProducts::lower_bounds); empty where the bounds are the products.
    pub lower_bound_errors: Vec<f64>,
}

/// No atoms; of others, what is written over it: they are exact, all at hand, and no more is known of them.
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
