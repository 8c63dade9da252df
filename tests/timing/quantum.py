#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters converge on those of exact lock step (quantum 0) as the quantum shrinks.

Threads share a heap, a limit and locks, so that who is first decides what is evicted. One run is
chaotic: a fault that comes first changes what follows. So several traces are run, and the mean of
the largest relative difference among the counters is judged. Classic is looked at on 6.1: on 6.12 it
decides by statistics up to two seconds old, which in a run of some ms have not been taken once.
"""

import random

from scenario import end, interleave, run

COUNTERS = ["pgfault", "pswpin", "pswpout", "pgscan", "pgsteal", "workingset_refault_anon",
            "pgactivate"]
QUANTA = [1_000_000, 100_000, 10_000, 1_000, 500, 100, 10]
SEEDS = 6


def trace(seed):
    programs = []
    for n in range(8):
        rnd = random.Random(100 * seed + n)
        p = ["region heap anon 10000"] if not n else []
        for _ in range(20000):
            page = min(int(rnd.paretovariate(0.7)) - 1 + rnd.randrange(4500), 9999)
            p.append(f"s heap {page}" if rnd.random() < 0.5 else f"l heap {page}")
            if rnd.random() < 0.2:
                p.append(f"cpu {rnd.randrange(3000)}")
        programs.append(p)
    return interleave(programs)


def differences(text, policy, kernel):
    """By quantum: the largest relative difference of a counter from quantum 0."""
    results = {q: run(text, {"cpus": 8, "memory.max": "3500p", "swap": "zram", "quantum_ns": q,
                             "kernel": kernel}, policy) for q in QUANTA + [0]}
    for q, r in results.items():
        assert r["settings"]["quantum_ns"] == q
        assert r["time"]["steps"] > r["time"]["step_overruns"], r["time"]
    exact = end(results[0])
    return {q: max(abs(end(results[q])[c] - exact[c]) / exact[c]
                   for c in COUNTERS if exact.get(c, 0) > 200) for q in QUANTA}


def main():
    traces = [trace(seed) for seed in range(SEEDS)]
    for policy, kernel in (("classic", "6.1"), ("mglru", "6.12")):
        runs = [differences(text, policy, kernel) for text in traces]
        mean = {q: sum(r[q] for r in runs) / SEEDS for q in QUANTA}
        print(f"{policy} {kernel}: " + ", ".join(f"{q} ns {100 * mean[q]:.2f} %" for q in QUANTA))
        coarse = (mean[1_000_000] + mean[100_000]) / 2
        fine = (mean[100] + mean[10]) / 2
        assert coarse > 0.03, "the scenario does not depend on the order"
        assert fine < coarse / 3, "the counters do not converge"
        assert mean[500] < coarse / 2 and mean[500] < 0.03, "the default quantum is too coarse"


main()
