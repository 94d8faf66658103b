//! The colours of lines and classes: seen on their paper, and told apart by readers who see fewer colours.

const STYLE: &str = include_str!("../style.css");

/// What light of three colours becomes: to all cones, and where one kind is missing (Machado, Oliveira and
/// Fernandes, IEEE TVCG 15 (2009)): protanopia, deuteranopia, tritanopia.
const EYES: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

/// The values of a variable: on light paper and on dark.
fn variable(name: &str) -> [[f64; 3]; 2] {
    let start = format!("--{name}: #");
    let values: Vec<[f64; 3]> = STYLE.split(&start).skip(1).map(|rest| linear(&rest[..6])).collect();
    let [light, dark] = values[..] else { panic!("--{name} has {} values", values.len()) };
    [light, dark]
}

/// The light of a colour, from its hexadecimal digits.
fn linear(digits: &str) -> [f64; 3] {
    [0, 2, 4].map(|at| {
        let value = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or_default()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn seen_by(eye: &[[f64; 3]; 3], light: [f64; 3]) -> [f64; 3] {
    eye.map(|row| row.iter().zip(light).map(|(part, light)| part * light).sum::<f64>().clamp(0.0, 1.0))
}

/// CIE Lab, in which equal distances look about equally large.
fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
    let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047;
    let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883;
    let root = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let [x, y, z] = [x, luminance([r, g, b]), z].map(root);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn luminance([r, g, b]: [f64; 3]) -> f64 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[test]
fn colours_are_told_apart_by_all_eyes() {
    let colours: Vec<[[f64; 3]; 2]> = (0..8).map(|i| variable(&format!("c{i}"))).collect();
    for scheme in [0, 1] {
        for eye in &EYES {
            let seen: Vec<[f64; 3]> =
                colours.iter().map(|colour| lab(seen_by(eye, colour[scheme]))).collect();
            for (i, a) in seen.iter().enumerate() {
                for (j, b) in seen.iter().enumerate().skip(i + 1) {
                    let distance = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(distance > 20.0, "scheme {scheme}, {eye:?}: c{i} and c{j} are {distance} apart");
                }
            }
        }
    }
}

/// The least contrast of parts of a drawing by WCAG 2.1 is 3.
#[test]
fn colours_are_seen_on_their_paper() {
    for i in 0..8 {
        for (colour, paper) in variable(&format!("c{i}")).into_iter().zip(variable("paper")) {
            let (a, b) = (luminance(colour) + 0.05, luminance(paper) + 0.05);
            assert!(a.max(b) / a.min(b) >= 3.0, "c{i}");
        }
    }
}
