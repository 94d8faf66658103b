"""Writes the files beside it: `pip install pandas polars pyarrow`, then `python make.py`.

Made on 2026-11-23 by pyarrow 26.0.1, polars 2.1.0 and pandas 3.1.1.
"""
import datetime as dt
import decimal
import pathlib
import shutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

here = pathlib.Path(__file__).parent
data = here / "../../../testkit/data"

# Every kind of column, three rows, the last one missing where that can be.
moment = dt.datetime(2024, 2, 29, 12, 30, 15, 250000)
kinds = {
    "i8": pa.array([1, -2, None], pa.int8()),
    "i16": pa.array([1, -300, None], pa.int16()),
    "i32": pa.array([1, -70000, None], pa.int32()),
    "i64": pa.array([1, -(2**40), None], pa.int64()),
    "u8": pa.array([1, 255, None], pa.uint8()),
    "u16": pa.array([1, 65535, None], pa.uint16()),
    "u32": pa.array([1, 2**32 - 1, None], pa.uint32()),
    "u64": pa.array([1, 2**64 - 1, None], pa.uint64()),
    "f16": pa.array(np.array([1.5, -0.333, np.nan], np.float16), pa.float16()),
    "f32": pa.array([1.5, 0.1, None], pa.float32()),
    "f64": pa.array([1.5, 0.1, float("nan")], pa.float64()),
    "d32": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-99.99"), None], pa.decimal128(4, 2)),
    "d64": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-123456789.123"), None], pa.decimal128(12, 3)),
    "d128": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-12345678901234567890.5"), None], pa.decimal128(38, 2)),
    "d256": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-1e10"), None], pa.decimal256(50, 2)),
    "bool": pa.array([True, False, None], pa.bool_()),
    "date": pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 30), None], pa.date32()),
    "date64": pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 30), None], pa.date64()),
    "ts_s": pa.array([moment, dt.datetime(1970, 1, 1), None], pa.timestamp("s")),
    "ts_ms": pa.array([moment, dt.datetime(1970, 1, 1), None], pa.timestamp("ms")),
    "ts_us": pa.array([moment, dt.datetime(1970, 1, 1), None], pa.timestamp("us", "UTC")),
    "ts_ns": pa.array([moment, dt.datetime(1970, 1, 1), None], pa.timestamp("ns")),
    "time32": pa.array([dt.time(1, 0, 0, 500000), dt.time(0), None], pa.time32("ms")),
    "time64": pa.array([dt.time(1, 0, 0, 500000), dt.time(0), None], pa.time64("us")),
    "string": pa.array(["b", " a ", None], pa.string()),
    "large": pa.array(["b", "a", None], pa.large_string()),
    "view": pa.array(["b", "a text of more than twelve letters", None], pa.string_view()),
    "category": pa.array(["b", "a", None], pa.string()).dictionary_encode(),
    "words": pa.array(["NA", "x", "?"], pa.string()),
    "null": pa.nulls(3),
}
if "ts_s" in kinds:
    kinds["ts_s"] = pa.array([1709209815, 0, None], pa.timestamp("s"))
    kinds["ts_ms"] = pa.array([1709209815250, 0, None], pa.timestamp("ms"))
table = pa.table(kinds)
pq.write_table(table, here / "kinds.parquet", compression="snappy")
pq.write_table(table, here / "kinds_v2.parquet", compression="zstd", data_page_version="2.0", use_dictionary=False)
only_arrow = {"duration": pa.array([1500, -1, None], pa.duration("ms")), "number": pa.array([7, 9, None], pa.int64()).dictionary_encode()}
both = pa.table({**kinds, **only_arrow})
feather.write_feather(both, str(here / "kinds.arrow"), compression="uncompressed")
feather.write_feather(both, str(here / "kinds_lz4.arrow"), compression="lz4")
feather.write_feather(both, str(here / "kinds_zstd.arrow"), compression="zstd")
pl.from_arrow(pa.table({k: kinds[k] for k in ["f64", "i32", "string", "view", "category", "bool"]})).write_ipc(here / "polars.arrow")

# What is no column of a table, beside some that are.
nested = pa.table({
    "x": pa.array([0.5, 1.5]),
    "list": pa.array([[1.0], [2.0, 3.0]]),
    "struct": pa.array([{"a": 1, "b": [1]}, {"a": 2, "b": []}]),
    "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([b"ab", b"c"], pa.binary()),
    "fixed": pa.array([b"ab", b"cd"], pa.binary(2)),
    "y": pa.array([1.0, 2.5]),
})
pq.write_table(nested, here / "nested.parquet")
more = nested.append_column("lists", pa.array([[1], [2]], pa.large_list(pa.int8()))).append_column("z", pa.array(["q", None]))
more = more.append_column("threes", pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)))
more = more.append_column("last", pa.array([2.0, 4.0]))
feather.write_feather(more, str(here / "nested.arrow"), compression="uncompressed")

# A table with gaps and categories: the same as text, and with pages compressed in each way.
rng = np.random.default_rng(18)
n = 60
mixed = pd.DataFrame({
    "age": rng.integers(20, 90, n),
    "dose": np.round(rng.normal(5, 2, n), 3),
    "ward": rng.choice(["north", "south", "east"], n),
    "smoker": rng.choice([True, False], n),
    "pressure": np.round(rng.normal(120, 15, n), 1),
})
mixed["outcome"] = np.where(mixed["dose"] + rng.normal(0, 1, n) > 5, "well", "ill")
mixed.loc[[3, 17], "dose"] = np.nan
mixed.loc[[5, 40], "ward"] = None
mixed["smoker"] = mixed["smoker"].astype("boolean")
mixed.loc[9, "smoker"] = pd.NA
text = mixed.copy()
text["smoker"] = text["smoker"].map({True: "true", False: "false"})
text.to_csv(here / "mixed.csv", index=False)
frame = pa.Table.from_pandas(mixed, preserve_index=False)
for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
    pq.write_table(frame, here / f"mixed_{codec}.parquet", compression=codec, row_group_size=25)
feather.write_feather(frame, str(here / "mixed.arrow"), compression="zstd", chunksize=25)
mixed.index = [f"p{i}" for i in range(n)]
mixed.to_parquet(here / "row_names.parquet")

# Small tables of the test kit, for the command and the pages.
for name in ["wine", "heart_failure"]:
    frame = pa.Table.from_pandas(pd.read_csv(data / f"{name}.csv", float_precision="round_trip"))
    pq.write_table(frame, data / f"{name}.parquet", compression="zstd")
    feather.write_feather(frame, str(data / f"{name}.arrow"), compression="zstd")

# A folder by ward and month.
shutil.rmtree(here / "parts", ignore_errors=True)
ids = pd.DataFrame({"x": np.arange(12.0), "y": np.arange(12.0) ** 2 / 7})
for number, (ward, month) in enumerate([("north", 1), ("north", 2), ("a b%", 1), (None, 3)]):
    name = {"a b%": "a%20b%25", None: "__HIVE_DEFAULT_PARTITION__"}.get(ward, ward)
    folder = here / "parts" / f"ward={name}" / f"month={month}"
    folder.mkdir(parents=True)
    ids.iloc[3 * number : 3 * number + 3].to_parquet(folder / f"part-{number}.parquet", index=False)
(here / "parts" / "_SUCCESS").write_text("")
