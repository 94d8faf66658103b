"""Reads a table of text by polars: `text.py TABLE ANSWER.json`."""

import json
import resource
import sys
import time

import polars


def main():
    table, answer = sys.argv[1:]
    start, usage = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    read = polars.read_csv(table)
    assert read.dtypes[:-1] == [polars.Float64] * (read.width - 1)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    peer = f"polars {polars.__version__}"
    with open(answer, "w", encoding="utf-8") as file:
        json.dump({"peer": peer, "seconds": seconds, "cpu_seconds": cpu_seconds}, file)


if __name__ == "__main__":
    main()
