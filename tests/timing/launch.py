#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Per-VMA locks in the launch workload, by shape; and a deadlock that ends with a dump.

Threads of one process map 3 to 5 areas, touch 20 to 200 pages in them and unmap them (the generator
launch-threads). Without per-VMA locks throughput flattens early; with them it goes on. Prints the
curve.
"""

import json
import subprocess
import tempfile

from scenario import BINARY, run_text

COUNTS = [1, 2, 4, 8, 16, 32, 64, 128]


def spec(threads):
    return json.dumps({"generator": "launch-threads", "threads": threads, "rounds": 20})


def throughput(threads, lock):
    """Pages touched a second of simulated time."""
    settings = {"cpus": threads, "mm.per_vma_lock": lock}
    text = run_text(spec(threads), settings, suffix=".json")
    if threads == 128:
        again = run_text(spec(threads), settings, suffix=".json")
        assert again == text, "a repeated run with 128 threads gives other bytes"
    time = json.loads(text)["time"]
    return time["accesses"] / time["elapsed_ns"] * 1e9


def curve():
    base = {n: throughput(n, "off") for n in COUNTS}
    vma = {n: throughput(n, "6.10") for n in COUNTS}
    for n in COUNTS:
        print(f"{n:4} threads: {base[n] / 1e6:6.2f} M pages/s without, {vma[n] / 1e6:6.2f} M with "
              f"per-VMA locks, x{vma[n] / base[n]:.2f}")
    assert abs(vma[1] / base[1] - 1) < 0.02, "one thread gains nothing"
    # What it still grows by is the readers that a writer's end lets in together.
    assert all(base[2 * n] < 1.35 * base[n] for n in (4, 8, 16)), "the base does not flatten"
    assert all(vma[2 * n] > 1.5 * vma[n] for n in (1, 2, 4)), "with them it does not go on"
    assert vma[128] < 1.2 * vma[32], "writers do not saturate the lock"
    assert all(vma[n] > 1.25 * base[n] for n in COUNTS[2:]), "they gain from 4 threads on"


def deadlock():
    with tempfile.NamedTemporaryFile("w", suffix=".trace") as f:
        f.write("t 0\ncpu 1\nt 1 0\nwait 0\nexit\nt 0\nwait 1\nexit\n")
        f.flush()
        done = subprocess.run([BINARY, "run", f.name, "-p", "mglru", "-s", "cpus=2"],
                              capture_output=True, text=True)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert "thread 0" in done.stderr and "thread 1" in done.stderr, done.stderr
    assert "another thread" in done.stderr, done.stderr


curve()
deadlock()
