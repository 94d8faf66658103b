//! The data sets of Table 2, and what Tables 3 and 4 print.

/// Mean and standard deviation.
pub(super) type Printed = Option<(f64, f64)>;

/// A data set of Table 2, with the numbers of Tables 3 and 4 for the first methods, in their order.
pub(super) struct Problem {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Seconds of a run of all methods, about: those with fewer get their runs first.
    pub seconds: u32,
    /// Table 3.
    pub accuracy: [Printed; 8],
    /// Table 4.
    pub redundancy: [Printed; 8],
}

/// In the paper's order.
pub(super) const PROBLEMS: &[Problem] = &[
    Problem {
        name: "AR10P",
        file: "warpAR10P.mat",
        seconds: 5,
        accuracy: [
            Some((0.848, 0.111)),
            Some((0.846, 0.111)),
            Some((0.551, 0.109)),
            Some((0.795, 0.121)),
            Some((0.745, 0.136)),
            Some((0.743, 0.137)),
            Some((0.709, 0.207)),
            Some((0.773, 0.122)),
        ],
        redundancy: [
            Some((0.196, 0.028)),
            Some((0.195, 0.028)),
            Some((0.255, 0.036)),
            Some((0.260, 0.039)),
            Some((0.268, 0.038)),
            Some((0.217, 0.050)),
            Some((0.235, 0.034)),
            Some((0.350, 0.091)),
        ],
    },
    Problem {
        name: "PIE10P",
        file: "warpPIE10P.mat",
        seconds: 12,
        accuracy: [
            Some((0.971, 0.032)),
            Some((0.972, 0.031)),
            Some((0.898, 0.109)),
            Some((0.955, 0.062)),
            Some((0.895, 0.118)),
            Some((0.952, 0.067)),
            Some((0.884, 0.218)),
            Some((0.908, 0.091)),
        ],
        redundancy: [
            Some((0.135, 0.014)),
            Some((0.139, 0.017)),
            Some((0.250, 0.042)),
            Some((0.193, 0.029)),
            Some((0.225, 0.036)),
            Some((0.183, 0.026)),
            Some((0.155, 0.021)),
            Some((0.285, 0.059)),
        ],
    },
    Problem {
        name: "PIX10P",
        file: "pixraw10P.mat",
        seconds: 16,
        accuracy: [
            Some((0.964, 0.043)),
            Some((0.964, 0.042)),
            Some((0.857, 0.146)),
            None,
            Some((0.769, 0.124)),
            Some((0.924, 0.067)),
            Some((0.920, 0.090)),
            Some((0.920, 0.100)),
        ],
        redundancy: [
            Some((0.177, 0.023)),
            Some((0.174, 0.023)),
            Some((0.388, 0.105)),
            None,
            Some((0.200, 0.066)),
            Some((0.286, 0.057)),
            Some((0.198, 0.036)),
            Some((0.348, 0.064)),
        ],
    },
    Problem {
        name: "ORL10P",
        file: "orlraws10P.mat",
        seconds: 13,
        accuracy: [
            Some((0.938, 0.068)),
            Some((0.941, 0.066)),
            Some((0.669, 0.120)),
            None,
            Some((0.782, 0.138)),
            Some((0.884, 0.096)),
            Some((0.848, 0.140)),
            Some((0.788, 0.132)),
        ],
        redundancy: [
            Some((0.192, 0.026)),
            Some((0.191, 0.025)),
            Some((0.300, 0.047)),
            None,
            Some((0.294, 0.095)),
            Some((0.204, 0.032)),
            Some((0.191, 0.034)),
            Some((0.225, 0.045)),
        ],
    },
    Problem {
        name: "TOX",
        file: "TOX-171.mat",
        seconds: 13,
        accuracy: [
            Some((0.781, 0.119)),
            Some((0.788, 0.113)),
            Some((0.691, 0.087)),
            Some((0.686, 0.085)),
            Some((0.709, 0.084)),
            Some((0.769, 0.077)),
            Some((0.804, 0.110)),
            Some((0.715, 0.087)),
        ],
        redundancy: [
            Some((0.382, 0.027)),
            Some((0.381, 0.027)),
            Some((0.391, 0.028)),
            Some((0.422, 0.031)),
            Some((0.386, 0.032)),
            Some((0.384, 0.028)),
            Some((0.371, 0.040)),
            Some((0.396, 0.036)),
        ],
    },
    Problem {
        name: "CLL-SUB",
        file: "CLL-SUB-111.mat",
        seconds: 14,
        accuracy: [
            Some((0.768, 0.087)),
            Some((0.769, 0.084)),
            Some((0.524, 0.112)),
            None,
            Some((0.640, 0.098)),
            Some((0.760, 0.116)),
            Some((0.709, 0.104)),
            Some((0.732, 0.141)),
        ],
        redundancy: [
            Some((0.344, 0.034)),
            Some((0.345, 0.034)),
            Some((0.403, 0.058)),
            None,
            Some((0.328, 0.039)),
            Some((0.322, 0.033)),
            Some((0.281, 0.050)),
            Some((0.352, 0.061)),
        ],
    },
];
