//! One body for processors with and without a fused multiply-add.

/// `a * b + c`, in one rounding where the processor has the instruction. Without it `mul_add` would
/// call a slow library function for every element.
#[inline(always)]
pub fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Defines a function (the caller's crate depends on `multiversion`) that runs the generic body of the same
/// name with FMA where there is one.
#[macro_export]
macro_rules! dispatched {
    ($(#[$documentation:meta])* $visibility:vis fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $body:ident) => {
        $(#[$documentation])*
        #[::multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
            "x86_64+avx2+fma",
        ))]
        $visibility fn $name($($argument: $kind),*) $(-> $result)? {
            if cfg!(target_arch = "aarch64") || ::multiversion::target::target_cfg_f!(target_feature = "fma") {
                $body::<true>($($argument),*)
            } else {
                $body::<false>($($argument),*)
            }
        }
    };
}
