//! The numbers that the paper prints.

/// The methods of Table 2, in its order.
pub(super) const METHODS: [&str; 6] = ["l1-SVM", "ElasticNet-SVM", "RFMKL", "GMKL", "IKPCA", "MIK-FS"];

/// A data set with its row of Table 2.
pub(super) struct Printed {
    /// The paper's name.
    pub name: &'static str,
    /// The file that holds it.
    pub file: &'static str,
    /// Accuracy in percent and number of features, for each of [`METHODS`].
    pub cells: [(f64, usize); 6],
    /// Whether Figures 1 and 2 show it.
    pub is_in_figures: bool,
}

const fn row(
    name: &'static str,
    file: &'static str,
    is_in_figures: bool,
    cells: [(f64, usize); 6],
) -> Printed {
    Printed { name, file, cells, is_in_figures }
}

/// Table 2.
pub(super) const TABLE_2: &[Printed] = &[
    row(
        "ALLAML",
        "ALLAML.mat",
        true,
        [(89.43, 18), (95.14, 558), (95.71, 14), (95.14, 34), (87.71, 13), (97.14, 18)],
    ),
    row(
        "Colon",
        "colon.mat",
        true,
        [(82.58, 13), (88.07, 87), (85.81, 11), (85.80, 20), (77.74, 16), (87.09, 17)],
    ),
    row(
        "Gli_85",
        "Gli-85.mat",
        false,
        [(76.67, 5), (75.24, 8), (75.00, 28), (73.10, 4), (69.52, 38), (78.09, 14)],
    ),
    row(
        "Prostate_GE",
        "Prostate-GE.mat",
        false,
        [(95.49, 15), (95.10, 71), (95.88, 14), (95.88, 29), (50.98, 45), (95.88, 8)],
    ),
    row(
        "Central_Nervous_System",
        "Central_Nervous_System.csv.gz",
        true,
        [(71.04, 9), (68.62, 19), (67.93, 10), (66.20, 3), (65.52, 27), (75.52, 17)],
    ),
    row(
        "Lung_Cancer",
        "lung_cancer_gordon.csv.gz",
        false,
        [(98.34, 12), (98.89, 15), (97.78, 33), (91.44, 428), (83.33, 9), (99.89, 46)],
    ),
    row(
        "Dbworld",
        "dbworld.csv",
        false,
        [(85.16, 14), (90.00, 232), (88.71, 18), (87.74, 154), (89.68, 6), (90.00, 11)],
    ),
    row(
        "Isolet",
        "Isolet.mat",
        true,
        [(98.67, 11), (99.34, 55), (99.34, 12), (99.34, 15), (99.83, 19), (100.00, 9)],
    ),
    row(
        "Glioma",
        "GLIOMA.mat",
        true,
        [(80.00, 5), (81.00, 104), (81.00, 5), (81.00, 6), (70.00, 9), (90.00, 3)],
    ),
    row(
        "Carcinom",
        "Carcinom.mat",
        true,
        [(79.41, 4), (80.59, 488), (81.76, 7), (84.70, 16), (76.47, 15), (91.70, 11)],
    ),
];
