//! Processor time, user and system, of all threads together.

/// Of this process so far; `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn of_this() -> Option<f64> {
    use nix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(time.tv_sec() as f64 + 1e-9 * time.tv_nsec() as f64)
}

/// Of all children that have ended and been waited for; `None` if the system does not report it.
#[cfg(unix)]
pub(super) fn of_children() -> Option<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    Some(1e-6 * (usage.user_time() + usage.system_time()).num_microseconds() as f64)
}

/// Of this process so far; `None` if the system does not report it.
#[cfg(not(unix))]
pub(crate) fn of_this() -> Option<f64> {
    None
}

/// Of all children that have ended and been waited for; `None` if the system does not report it.
#[cfg(not(unix))]
pub(super) fn of_children() -> Option<f64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time() {
        let before = of_this().unwrap();
        let mut value = 1.0_f64;
        while of_this().unwrap() < before + 0.01 {
            value = std::hint::black_box(value.sqrt() + 1.0);
        }
        assert!(value > 1.0 && of_children().unwrap() >= 0.0);
    }
}
