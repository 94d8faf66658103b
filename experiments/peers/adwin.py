#!/usr/bin/env python3
"""Give the same series to ADWIN of this project and to river's, and write a table of delays and false alarms.

    adwin.py [--program PATH] [--streams 100] [--json OUT.json]

Values are from 0 to 1. Before the change at value 2000 an alarm is false; the delay is that of the first alarm
after it, in values. `--program` is the example `adwin` of crates/streams; without it, cargo builds and runs it.
river's `clock` is how often it looks: 32 is its default, and 1 is at every value, as here.
"""

import argparse
import json
import platform
import random
import statistics
import subprocess

DELTA = 0.002
CHANGE = 2000
LENGTH = 6000
CARGO = ["cargo", "run", "--quiet", "--release", "-p", "fewest-streams", "--example", "adwin", "--"]


def bernoulli(mean):
    return lambda rng, i: float(rng.random() < mean(i))


def normal(mean):
    return lambda rng, i: min(1.0, max(0.0, rng.gauss(mean(i), 0.1)))


def step(before, after):
    return lambda i: before if i < CHANGE else after


def slope(before, after, over):
    return lambda i: before + (after - before) * min(1.0, max(0.0, (i - CHANGE) / over))


SERIES = [
    ("0 and 1, mean 0.2, no change", bernoulli(lambda i: 0.2), False),
    ("normal, mean 0.3, deviation 0.1, no change", normal(lambda i: 0.3), False),
    ("0 and 1, mean 0.2, then 0.5", bernoulli(step(0.2, 0.5)), True),
    ("0 and 1, mean 0.2, then 0.3", bernoulli(step(0.2, 0.3)), True),
    ("0 and 1, mean 0.2 to 0.5 over 1000 values", bernoulli(slope(0.2, 0.5, 1000)), True),
    ("normal, mean 0.3, then 0.4", normal(step(0.3, 0.4)), True),
    ("normal, mean 0.3 to 0.4 over 1000 values", normal(slope(0.3, 0.4, 1000)), True),
]


def of_river(series, clock):
    from river import drift

    found = []
    for values in series:
        adwin = drift.ADWIN(delta=DELTA, clock=clock)
        alarms = []
        for i, value in enumerate(values):
            adwin.update(value)
            if adwin.drift_detected:
                alarms.append(i)
        found.append(alarms)
    return found


def of_this(series, program):
    text = "\n".join(" ".join(map(repr, values)) for values in series) + "\n"
    command = ([program] if program else CARGO) + [str(DELTA)]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [[int(at) for at in line.split()] for line in ran.stdout.split("\n")[: len(series)]]


def told(found, has_change):
    end = CHANGE if has_change else LENGTH
    false = sum(any(at < end for at in alarms) for alarms in found)
    delays = [next((at - CHANGE for at in alarms if at >= CHANGE), None) for alarms in found]
    seen = sorted(delay for delay in delays if delay is not None)
    return {
        "false": false,
        "found": len(seen) if has_change else None,
        "median": statistics.median(seen) if has_change and seen else None,
        "largest": seen[-1] if has_change and seen else None,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="the example `adwin`, built")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--json", help="output file")
    args = parser.parse_args()

    import river

    results = []
    print("| series | program | with a false alarm | change found | median delay | largest delay |")
    print("|---|---|---|---|---|---|")
    for number, (name, value, has_change) in enumerate(SERIES):
        series = []
        for stream in range(args.streams):
            rng = random.Random(1000 * number + stream)
            series.append([value(rng, i) for i in range(LENGTH)])
        programs = [
            ("fewest", of_this(series, args.program)),
            ("river, clock 1", of_river(series, 1)),
            ("river", of_river(series, 32)),
        ]
        for program, found in programs:
            row = told(found, has_change)
            results.append({"series": name, "program": program, **row})
            cells = [row["found"], row["median"], row["largest"]]
            cells = ["" if cell is None else f"{cell:.0f}" for cell in cells]
            print(f"| {name} | {program} | {row['false']} | {' | '.join(cells)} |", flush=True)
    print(f"\n{args.streams} series of {LENGTH} values; river {river.__version__}, Python {platform.python_version()}")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(results, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
