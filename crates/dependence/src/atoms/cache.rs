//! Atoms kept for the next request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Memory that may be used.
pub(super) struct Memory {
    most_bytes: usize,
    used: AtomicUsize,
}

impl Memory {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, used: AtomicUsize::new(0) }
    }

    /// Whether `count` things of `bytes` each fit into all of it.
    pub(super) fn fits(&self, bytes: usize, count: usize) -> bool {
        bytes.saturating_mul(count) <= self.most_bytes
    }

    /// Takes `bytes` of it, unless too little is left.
    fn take(&self, bytes: usize) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used > self.most_bytes {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        used <= self.most_bytes
    }
}

/// A place for an atom of each feature.
pub(super) struct Cache<A> {
    atoms: Vec<OnceLock<Arc<A>>>,
}

impl<A> Cache<A> {
    pub(super) fn new(n_features: usize) -> Self {
        Self { atoms: std::iter::repeat_with(OnceLock::new).take(n_features).collect() }
    }

    pub(super) fn get(&self, j: usize) -> Option<Arc<A>> {
        self.atoms[j].get().cloned()
    }

    /// Keeps the atom of feature `j`, if `memory` has `bytes` left.
    pub(super) fn keep(&self, j: usize, atom: &Arc<A>, bytes: usize, memory: &Memory) {
        if self.atoms[j].get().is_none() && memory.take(bytes) {
            // Another thread may have been faster: the atom is the same.
            let _ = self.atoms[j].set(Arc::clone(atom));
        }
    }
}
