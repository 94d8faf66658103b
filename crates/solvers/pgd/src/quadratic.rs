//! The solver of working sets.

use fewest_solver::{
    BlockPenalty, Composite, Control, Error, InnerProducts, Penalty, Quadratic, QuadraticSolver, Solution,
    run,
};

use crate::ProximalGradient;

/// With step scales `1 / Σ_{j in block} ‖Aⱼ‖²` unless others were set: a diagonal preconditioner that makes
/// the units of the atoms irrelevant. A penalty without blocks has none.
impl QuadraticSolver for ProximalGradient {
    fn name(&self) -> &'static str {
        "pgd"
    }

    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let composite = Composite::new(problem, penalty)?;
        let mut solver = self.clone().tolerance(control.tolerance);
        if self.block_scales.is_empty()
            && let Some(penalty) = penalty.by_blocks()
        {
            solver = solver.block_scales(inverse_curvatures(problem, penalty));
        }
        run(composite, &mut solver, start.to_vec(), control)
    }
}

fn inverse_curvatures(problem: &Quadratic, penalty: &dyn BlockPenalty) -> Vec<f64> {
    let curvature = |block: &[usize]| block.iter().map(|&j| problem.squared_norms()[j]).sum::<f64>();
    let curvatures: Vec<f64> = penalty.blocks().iter().map(curvature).collect();
    let largest = curvatures.iter().copied().fold(0.0, f64::max);
    // A block of atoms of norm zero has no curvature of its own; any scale will do.
    let spare = if largest > 0.0 { largest } else { 1.0 };
    curvatures.into_iter().map(|value| if value > 0.0 { value } else { spare }.recip()).collect()
}
