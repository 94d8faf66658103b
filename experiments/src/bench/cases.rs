//! The measured cases and their files.

use std::path::{Path, PathBuf};

use fewest::core::Target;
use fewest::data::synthetic;

use crate::{Result, npy};

/// The data of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A file of the data folder with variables `X` and `Y`: classification.
    Matlab(&'static str),
    /// Data2 of the paper, drawn with seed 0: regression.
    Data2 {
        /// Samples.
        n: usize,
        /// Features.
        d: usize,
    },
}

/// How pyHSICLasso runs a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeerOptions {
    /// Samples in a block; 0 is the full estimator.
    pub block: usize,
    /// Permutations of the block estimator.
    pub permutations: usize,
}

/// One comparison, or one measurement of ours alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    /// A short name.
    pub name: &'static str,
    /// The data.
    pub source: Source,
    /// Features to select.
    pub k: usize,
    /// How the other package runs it; `None` if its full Gram matrices would not fit into memory.
    pub peer: Option<PeerOptions>,
}

/// Ours is always the full estimator, with Gram matrices of unit norm as pyHSICLasso has them.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "orlraws10P",
        source: Source::Matlab("orlraws10P.mat"),
        k: 50,
        peer: Some(PeerOptions { block: 0, permutations: 1 }),
    },
    Case {
        name: "warpAR10P",
        source: Source::Matlab("warpAR10P.mat"),
        k: 50,
        peer: Some(PeerOptions { block: 0, permutations: 1 }),
    },
    Case {
        name: "pixraw10P",
        source: Source::Matlab("pixraw10P.mat"),
        k: 50,
        peer: Some(PeerOptions { block: 0, permutations: 1 }),
    },
    Case {
        name: "data2-n1000-d2000",
        source: Source::Data2 { n: 1000, d: 2000 },
        k: 50,
        peer: Some(PeerOptions { block: 20, permutations: 3 }),
    },
    Case { name: "data2-n20000-d2000", source: Source::Data2 { n: 20_000, d: 2000 }, k: 20, peer: None },
    Case { name: "data2-n100000-d200", source: Source::Data2 { n: 100_000, d: 200 }, k: 20, peer: None },
];

/// The files of a source.
#[derive(Debug, Clone)]
pub(super) struct Files {
    /// The table, or the `.mat` file with everything.
    pub x: PathBuf,
    /// The target, if it is in a separate file.
    pub y: Option<PathBuf>,
}

impl Source {
    /// `classification` or `regression`.
    pub(super) fn task(self) -> &'static str {
        match self {
            Source::Matlab(_) => "classification",
            Source::Data2 { .. } => "regression",
        }
    }

    /// The files, written to `scratch` where they are drawn.
    pub(super) fn files(self, data: Option<&Path>, scratch: &Path) -> Result<Files> {
        match self {
            Source::Matlab(name) => {
                let folder = data.ok_or("give the data folder: --data DIR or FEWEST_DATA")?;
                Ok(Files { x: folder.join(name), y: None })
            }
            Source::Data2 { n, d } => {
                std::fs::create_dir_all(scratch)?;
                let (x, y) = (
                    scratch.join(format!("data2-{n}-{d}-x.npy")),
                    scratch.join(format!("data2-{n}-{d}-y.npy")),
                );
                let problem = synthetic::data2_on_demand(n, d, 0)?;
                npy::write_table(&x, problem.dataset.x())?;
                let Target::Real(outputs) = problem.dataset.target() else {
                    return Err("Data2 has a real target".into());
                };
                npy::write_vector(&y, outputs.output(0))?;
                Ok(Files { x, y: Some(y) })
            }
        }
    }
}

impl Files {
    /// Removes the files that were drawn.
    pub(super) fn remove(&self) -> Result<()> {
        if let Some(y) = &self.y {
            std::fs::remove_file(y)?;
            std::fs::remove_file(&self.x)?;
        }
        Ok(())
    }
}
