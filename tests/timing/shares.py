#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What MGLRU (5.18) gains over the classic LRU in throughput, and from what.

The loads of two published results (tests/claims: fio's buffered random read by 72 jobs, random gets of
a memcached on swap): the time of all threads under the one less that under the other, by what it was
spent on. Refaults show as waits for I/O and as the CPU time of faults and reads. Published: +38 to
+40 % and +103 to +107 %, on far larger machines.
"""

import json
import os

from scenario import run_file

SPECS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "claims", "specs")
LOADS = [("fio, 8 CPUs", "fio-randread.json", "+38 to +40 %",
          {"memory.max": "32000p", "cpus": 8, "disk": "null", "read_ahead_kb": 0}),
         ("fio, 72 CPUs", "fio-randread.json", "+38 to +40 %",
          {"memory.max": "32000p", "cpus": 72, "disk": "null", "read_ahead_kb": 0}),
         ("memcached, 4 CPUs", "memcached-swap.json", "+103 to +107 %",
          {"memory.max": "18000p", "cpus": 4, "swap": "null", "vm.page-cluster": 0})]


def result(spec, policy, settings):
    return json.loads(run_file(os.path.join(SPECS, spec), settings | {"kernel": "5.18"}, policy))


def pages_read(result):
    return result["snapshots"][-1]["vmstat_delta"]["pgpgin"] // 4


def spent(result):
    """The time of all threads by what it was spent on, start to end. Spinning is taken off reclaim."""
    threads = result["time"]["per_thread"]
    reclaim = sum(t["reclaim_ns"] for t in threads)
    spin = sum(t["spin_ns"] for t in threads)
    by = {"locks": spin + sum(t["lock_wait_ns"] for t in threads),
          "reclaim": reclaim - spin,
          "I/O": sum(t["io_wait_ns"] for t in threads),
          "CPUs": sum(t["run_wait_ns"] for t in threads),
          "the rest": sum(t["cpu_ns"] + t["sleep_ns"] + t["throttle_ns"] + t["idle_ns"]
                          for t in threads) - reclaim}
    return by, len(threads) * result["time"]["elapsed_ns"]


def main():
    for name, spec, published, settings in LOADS:
        classic, mglru = (result(spec, p, settings) for p in ("classic", "mglru"))
        assert classic["time"]["accesses"] == mglru["time"]["accesses"]
        gain = classic["time"]["elapsed_ns"] / mglru["time"]["elapsed_ns"] - 1
        reads = pages_read(mglru) / pages_read(classic) - 1
        (old, total), (new, total_new) = spent(classic), spent(mglru)
        for by, whole in ((old, total), (new, total_new)):
            assert abs(sum(by.values()) - whole) < 1e-3 * whole, (by, whole)
        print(f"{name}: MGLRU {100 * gain:+.1f} % (published {published}), pages read "
              f"{100 * reads:+.1f} %; of classic's time it saves "
              + ", ".join(f"{key} {100 * (old[key] - new[key]) / total:+.1f} %" for key in old))
        assert gain > 0, "MGLRU does not gain"
        assert abs(reads) < 0.02, "refaults decide: the claims table says that they do not"


main()
