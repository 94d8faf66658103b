//! How long a command will take.

/// Runs of a command that does not say how many.
pub(super) const RUNS: u64 = 10;

/// Threads of a command that does not say how many.
pub(super) const THREADS: usize = 2;

/// The option for a part of what a command computes.
const ONLY: &str = "only ";

/// What a figure or a table took.
struct Measured {
    paper: &'static str,
    /// The option with its value; empty, where there is one thing only.
    what: &'static str,
    /// What other figures or tables come with it.
    also: &'static [&'static str],
    /// Seconds of a run with [`THREADS`] threads.
    seconds: f64,
}

const fn measured(
    paper: &'static str,
    what: &'static str,
    also: &'static [&'static str],
    seconds: f64,
) -> Measured {
    Measured { paper, what, also, seconds }
}

/// On two cores of an AMD EPYC, in November 2026: half of the CPU seconds of a run. Those of hsic-lasso
/// figure 1, mik-fs table 2, and the tables of nmmkl, sd-rfe and the survey are seconds on cores that did
/// other work too, so too large.
const MEASURED: &[Measured] = &[
    measured("fdr", "", &[], 8.0),
    measured("heterogeneous", "only networks", &[], 11.0),
    measured("heterogeneous", "only views", &[], 3.0),
    measured("hsic-lasso", "figure 1", &[], 12.0),
    measured("hsic-lasso", "table 3", &["table 4", "figure 2"], 15.0),
    measured("hsic-lasso", "figure 3", &[], 6.4),
    measured("hsic-lasso", "figure 4", &[], 2.3),
    measured("hsic-lasso", "figure 5", &[], 2.3),
    measured("mik-fs", "figure 1", &[], 10.0),
    measured("mik-fs", "figure 1-tuned", &[], 82.0),
    measured("mik-fs", "table 2", &["figure 2"], 300.0),
    measured("nmmkl", "table 1", &[], 25.0),
    measured("nmmkl", "figure 2", &[], 31.0),
    measured("nmmkl", "figure 3", &[], 0.4),
    measured("nmmkl", "table 3", &[], 70.0),
    measured("nmmkl", "table 4", &["table 5"], 5.0),
    measured("nmmkl", "table 6", &[], 18.0),
    measured("nmmkl", "table 7", &[], 5.0),
    measured("sd-rfe", "table 1", &["figure 2"], 10.0),
    measured("sd-rfe", "table 3", &[], 60.0),
    measured("streams", "", &[], 4.4),
    measured("survey", "table 2", &[], 200.0),
];

/// Says at the start how long the command with these words will take.
pub(super) fn tell(words: &[String], runs: u64, threads: usize) {
    eprintln!("{}", line(words, runs, threads));
}

fn line(arguments: &[String], runs: u64, threads: usize) -> String {
    let found: Vec<&Measured> = MEASURED.iter().filter(|measured| measured.is_asked(arguments)).collect();
    if found.is_empty() {
        return "how long this takes was not measured: each method tells it after its first run".to_owned();
    }
    let a_run: f64 = found.iter().map(|measured| measured.seconds).sum();
    let seconds = a_run * runs as f64 * THREADS as f64 / threads.max(1) as f64;
    let given = |name: &str| arguments.iter().any(|word| word.split('=').next() == Some(name));
    let mut line = format!(
        "{runs} runs take about {} with {threads} threads on a busy machine, less on an idle one",
        words(seconds)
    );
    if ["--only", "--datasets", "--methods"].into_iter().any(given) {
        line.push_str(", for the data sets and methods of the published page");
    }
    if given("--resume") {
        line.push_str(", less what is finished");
    }
    line
}

impl Measured {
    fn is_asked(&self, arguments: &[String]) -> bool {
        let pairs = arguments.iter().zip(arguments.iter().skip(1).map(String::as_str).chain([""]));
        let asked = pairs.filter_map(|(option, value)| {
            let (option, value) = option.split_once('=').unwrap_or((option, value));
            Some(format!("{} {value}", option.strip_prefix("--")?))
        });
        let asked: Vec<String> = asked.collect();
        // Without `--only` all parts are computed.
        let all = self.what.starts_with(ONLY) && !asked.iter().any(|asked| asked.starts_with(ONLY));
        let is_named = |what: &str| what.is_empty() || asked.iter().any(|asked| asked == what);
        let named = is_named(self.what) || self.also.iter().any(|what| is_named(what));
        arguments.iter().any(|word| word == self.paper) && (all || named)
    }
}

/// Seconds for `left` more of what took `seconds`, as many at once as there are threads.
pub(super) fn remaining(seconds: f64, left: usize) -> f64 {
    seconds * left.div_ceil(rayon::current_num_threads().max(1)) as f64
}

/// A duration in words, to two digits.
pub(super) fn words(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if seconds < 100.0 => (seconds, "s"),
        _ if seconds < 6000.0 => (seconds / 60.0, "min"),
        _ => (seconds / 3600.0, "h"),
    };
    let digits = usize::from(value < 9.95 && unit != "s");
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str, runs: u64, threads: usize) -> String {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        line(&words, runs, threads)
    }

    #[test]
    fn durations_are_short() {
        let cases = [(7.3, "7 s"), (90.0, "90 s"), (150.0, "2.5 min"), (1200.0, "20 min"), (9000.0, "2.5 h")];
        for (seconds, expected) in cases {
            assert_eq!(words(seconds), expected);
        }
    }

    #[test]
    fn what_is_left_is_divided_among_the_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        assert_eq!(pool.install(|| remaining(3.0, 9)), 9.0);
        assert_eq!(pool.install(|| remaining(3.0, 0)), 0.0);
    }

    #[test]
    fn commands_are_known_by_paper_and_figure() {
        let two = told("reproduce hsic-lasso --table 4 --runs 100", 100, 2);
        assert!(two.starts_with("100 runs take about 25 min with 2 threads"), "{two}");
        // The same runs give the figure; twice the threads take half the time.
        let four = told("reproduce hsic-lasso --figure=2 --resume", 100, 4);
        assert!(four.starts_with("100 runs take about 12 min") && four.ends_with("finished"), "{four}");
        // Both at once.
        let both = told("reproduce mik-fs --table 2 --figure 1 --only x", 10, 2);
        assert!(both.starts_with("10 runs take about 52 min") && both.ends_with("published page"), "{both}");
        assert!(told("reproduce hsic-lasso --figure 9", 10, 2).contains("not measured"));
        // One thing only, all parts, one part.
        assert!(told("reproduce streams", 10, 2).starts_with("10 runs take about 44 s"));
        assert!(told("reproduce heterogeneous", 10, 2).starts_with("10 runs take about 2.3 min"));
        assert!(told("reproduce heterogeneous --only views", 10, 2).starts_with("10 runs take about 30 s"));
    }
}
