"""Plain statistics of a folder of Parquet files, by polars or DuckDB: the sums by class of every feature that its
F statistic needs, or the counts of its bins of equal width by class that chi-square needs."""

import argparse
import glob
import json
import os
import resource
import time


# A value within rounding of a bound of bins is on it.
ON_BOUND = 1e-12


def names_of(folder):
    import pyarrow.parquet as parquet

    columns = parquet.read_schema(sorted(glob.glob(f"{folder}/*.parquet"))[0]).names
    return [name for name in columns if name != "outcome"]


def f_statistics(groups, names):
    """F of each feature from the rows (class, count, sums and sums of squares of all features)."""
    counts = [row["n"] for row in groups]
    n, c = sum(counts), len(counts)
    values = []
    for name in names:
        sums = [row[f"s_{name}"] for row in groups]
        squares = sum(row[f"q_{name}"] for row in groups)
        mean = sum(sums) / n
        between = sum(count * (s / count - mean) ** 2 for count, s in zip(counts, sums))
        within = squares - n * mean * mean - between
        values.append(between / (c - 1) / (within / (n - c)))
    return values


def chi_squared(tables):
    """From a table bins by class of each feature."""
    values = []
    for table in tables:
        total = sum(table.values())
        rows, columns = {}, {}
        for (level, outcome), count in table.items():
            rows[level] = rows.get(level, 0) + count
            columns[outcome] = columns.get(outcome, 0) + count
        expected = {(r, c): rows[r] * columns[c] / total for r in rows for c in columns}
        values.append(sum((table.get(key, 0) - e) ** 2 / e for key, e in expected.items()))
    return values


def by_polars(folder, names, statistic):
    import polars as pl

    table = pl.scan_parquet(f"{folder}/*.parquet")
    if statistic == "f":
        sums = [pl.len().alias("n")]
        for name in names:
            sums += [pl.col(name).sum().alias(f"s_{name}"), (pl.col(name) ** 2).sum().alias(f"q_{name}")]
        return f_statistics(table.group_by("outcome").agg(sums).collect(engine="streaming").to_dicts(), names)
    bounds = [f(pl.col(name)).alias(f"{p}_{name}") for name in names for p, f in (("l", pl.Expr.min), ("h", pl.Expr.max))]
    bounds = table.select(bounds).collect(engine="streaming").to_dicts()[0]
    counts = []
    for name in names:
        low, high = bounds[f"l_{name}"], bounds[f"h_{name}"]
        code = (((pl.col(name) - low) / (high - low) + ON_BOUND) * 5).floor().clip(0, 4).cast(pl.UInt8)
        counts += [(code == level).sum().alias(f"{level}_{name}") for level in range(5)]
    groups = table.group_by("outcome").agg(counts).collect(engine="streaming").to_dicts()
    return chi_squared(
        [{(level, row["outcome"]): row[f"{level}_{name}"] for row in groups for level in range(5) if any(
            other[f"{level}_{name}"] for other in groups)} for name in names]
    )


def by_duckdb(folder, names, statistic, threads, memory):
    import duckdb

    base = duckdb.connect()
    base.execute(f"SET threads = {threads}")
    if memory:
        base.execute(f"SET memory_limit = '{memory}'")
    table = f"read_parquet('{folder}/*.parquet')"
    if statistic == "f":
        sums = ", ".join(f'sum("{n}") AS "s_{n}", sum("{n}" * "{n}") AS "q_{n}"' for n in names)
        found = base.execute(f"SELECT outcome, count(*) AS n, {sums} FROM {table} GROUP BY outcome")
        heads = [head[0] for head in found.description]
        return f_statistics([dict(zip(heads, row)) for row in found.fetchall()], names)
    bounds = ", ".join(f'min("{n}"), max("{n}")' for n in names)
    bounds = base.execute(f"SELECT {bounds} FROM {table}").fetchone()
    counts = []
    for at, n in enumerate(names):
        low, high = bounds[2 * at], bounds[2 * at + 1]
        code = f'least(4, floor((("{n}" - {low!r}) / {high - low!r} + {ON_BOUND}) * 5))'
        counts += [f"count(*) FILTER ({code} = {level})" for level in range(5)]
    rows = base.execute(f"SELECT outcome, {', '.join(counts)} FROM {table} GROUP BY outcome").fetchall()
    tables = []
    for at in range(len(names)):
        own = {(level, row[0]): row[1 + 5 * at + level] for row in rows for level in range(5)}
        occurs = {level for (level, _), count in own.items() if count}
        tables.append({key: count for key, count in own.items() if key[0] in occurs})
    return chi_squared(tables)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--package", choices=["polars", "duckdb"], required=True)
    parser.add_argument("--statistic", choices=["f", "chi2"], required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="")
    parser.add_argument("--json", required=True)
    given = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(given.threads)
    names = names_of(given.folder)
    package = __import__(given.package)
    start, usage = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    if given.package == "polars":
        values = by_polars(given.folder, names, given.statistic)
    else:
        values = by_duckdb(given.folder, names, given.statistic, given.threads, given.memory)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    answer = {
        "peer": f"{given.package} {package.__version__}",
        "seconds": seconds,
        "cpu_seconds": after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime,
        "values": values,
    }
    with open(given.json, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
