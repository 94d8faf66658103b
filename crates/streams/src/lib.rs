#![doc = include_str!("../README.md")]

mod alpha_investing;
mod arrivals;
mod candidates;
mod forgetting;
mod fsds;
mod grafting;
mod groups;
mod independence;
mod ofs;
mod osfs;
mod penalty;
mod samples;
mod saola;
mod tails;
#[cfg(feature = "usfs")]
mod usfs;

#[cfg(feature = "usfs")]
use fewest_core::method::LinkTable;
use fewest_core::method::{Method, TargetKind};

pub use alpha_investing::{AlphaInvesting, AlphaInvestingStream, InvestingTest};
pub use arrivals::{Outcome, Verdict};
pub use fewest_core::{Alarm, Error};
pub use forgetting::{
    Adwin, ClassSums, CorrelationSums, DriftOptions, Drifting, Fading, FadingSums, ScoreSums, Shift, Sliding,
    StreamSums, VarianceSums, Window,
};
pub use fsds::{Fsds, FsdsStream};
pub use grafting::{Grafting, GraftingStream};
pub use groups::{ArrivingGroups, Gfssf, GfssfStream, GroupCost, Ogfs, OgfsStream};
pub use independence::IndependenceTest;
pub use ofs::{Ofs, OfsInput, OfsStream};
pub use osfs::{FastOsfs, Osfs, OsfsStream, OuterAnalysis};
pub use saola::{Saola, SaolaStream};
#[cfg(feature = "usfs")]
pub use usfs::{LatentFactors, Usfs, UsfsStream};

const SUPERVISED: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real];

/// The methods of this family.
pub static METHODS: &[Method] = &[
    Method::sequence::<AlphaInvesting>(
        "alpha-investing",
        "alpha-investing, features arrive one by one",
        "select i if its p-value given those selected < αᵢ = w / (2 i); w ← w − αᵢ, and + reward if selected",
        SUPERVISED,
    )
    .streaming::<AlphaInvesting>(),
    Method::selector::<Grafting>(
        "grafting",
        "grafting, features arrive one by one",
        "admit j if |∂loss/∂wⱼ| > λ, then minimise loss + λ ‖w‖₁ over those admitted; score(j) = wⱼ",
        SUPERVISED,
    )
    .streaming::<Grafting>(),
    Method::selector::<Osfs>(
        "osfs",
        "online streaming feature selection",
        "keep x if p(x ⊥ y) ≤ α; x leaves if p(x ⊥ y | S) > α for a set S of others kept",
        SUPERVISED,
    )
    .streaming::<Osfs>(),
    Method::selector::<FastOsfs>(
        "fast-osfs",
        "fast online streaming feature selection",
        "keep x if p(x ⊥ y) ≤ α and p(x ⊥ y | S) ≤ α for all sets S of those kept; the same for them at the end",
        SUPERVISED,
    )
    .streaming::<FastOsfs>(),
    Method::selector::<Saola>(
        "saola",
        "scalable and accurate online selection by pairs of features",
        "keep x if p(x ⊥ y) ≤ α, unless a kept s has D(s, y) ≥ D(x, y) and D(x, s) ≥ D(x, y), or the reverse",
        SUPERVISED,
    )
    .streaming::<Saola>(),
    Method::selector::<Ogfs>(
        "ogfs",
        "online group feature selection, groups of features arrive",
        "in a group take f if F(U ∪ f) − F(U) > ε or s(f) is above the mean of s(U); then minimise 1/(2n) ‖y − X β‖² + λ ‖β‖₁",
        &[TargetKind::Classes],
    )
    .streaming::<Ogfs>(),
    Method::selector::<Gfssf>(
        "gfssf",
        "group feature selection by information, groups of features arrive",
        "in a group, then across groups: greedily the largest (I(x; y | S) − f / 2n) / cost with p ≤ α; then those with p > α leave",
        SUPERVISED,
    )
    .streaming::<Gfssf>(),
    #[cfg(feature = "usfs")]
    Method::selector::<Usfs>(
        "usfs",
        "unsupervised streaming feature selection of linked samples",
        "admit j if |∂ loss / ∂Wⱼ| > λ, then minimise 1/(2n) [‖XW − P‖² + ridge ‖W‖² + graph tr((XW)ᵀL(XW))] + λ Σ |Wⱼₖ|",
        TargetKind::ANY,
    )
    .using(&[(LinkTable::Samples, &[])])
    .streaming::<Usfs>(),
    Method::selector::<Ofs>(
        "ofs",
        "online feature selection by a sparse classifier, samples arrive",
        "where y wᵀx ≤ margin: w ← (1 − λη) w + η y x, into the ball λ^(−½), the B largest |wⱼ|; score(j) = wⱼ",
        &[TargetKind::Classes],
    )
    .streaming::<Ofs>(),
    Method::scorer::<Fsds>(
        "fsds",
        "unsupervised selection by frequent directions, samples arrive",
        "score(j) = maxᵢ σᵢ / (σᵢ² + ridge) |vᵢⱼ| over leading singular vectors of a sketch of the samples",
        TargetKind::ANY,
    )
    .streaming::<Fsds>(),
];
