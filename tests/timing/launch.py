#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Per-VMA locks in the launch workload, by shape; and a deadlock that ends with a dump.

Threads of one process map 3 to 5 areas, touch 20 to 200 pages in them and unmap them. Their areas
do not touch, so they are not merged into one VMA. Without per-VMA locks throughput flattens early;
with them it goes on. Prints the curve.
"""

import json
import random
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
ROUNDS = 20


def program(thread, rnd):
    lines = []
    for _ in range(ROUNDS):
        areas, pages = rnd.randint(3, 5), rnd.randint(20, 200)
        for a in range(areas):
            place = 0x100000000 + (thread * 8 + a) * 0x200000
            lines.append(f"region t{thread}a{a} anon 256 @{place:#x}")
            lines.append(f"s t{thread}a{a} 0 {max(1, pages // areas)}")
        lines.append("cpu 20000")
        lines += [f"u t{thread}a{a}" for a in range(areas)]
    return lines + ["exit"]


def launch_trace(threads):
    rnd = random.Random(1)
    programs = [program(t, rnd) for t in range(threads)]
    lines, maps = [], 0
    for at in range(0, max(map(len, programs)), 40):
        for t, p in enumerate(programs):
            if at < len(p):
                lines.append(f"t {t} 0" if t else "t 0")
                lines += p[at:at + 40]
    maps = sum(line.startswith("region") for line in lines)
    return "\n".join(lines) + "\n", maps


def run(text, *settings):
    with tempfile.NamedTemporaryFile("w", suffix=".trace") as f:
        f.write(text)
        f.flush()
        args = [BINARY, "run", f.name, "--policy", "mglru", "--json"]
        for s in settings:
            args += ["--set", s]
        return subprocess.run(args, capture_output=True, text=True)


def throughput(threads, lock):
    text, maps = launch_trace(threads)
    done = run(text, f"cpus={threads}", f"mm.per_vma_lock={lock}")
    assert done.returncode == 0, done.stderr
    again = run(text, f"cpus={threads}", f"mm.per_vma_lock={lock}") if threads == 128 else done
    assert again.stdout == done.stdout, "a repeated run with 128 threads gives other bytes"
    return maps / json.loads(done.stdout)["time"]["elapsed_ns"] * 1e9


def main():
    counts = [1, 4, 8, 16, 32, 128]
    base = {n: throughput(n, "off") for n in counts}
    vma = {n: throughput(n, "6.10") for n in counts}
    for n in counts:
        print(f"{n:4} threads: {base[n]:8.0f} areas/s without, {vma[n]:8.0f} with per-VMA locks")
    assert abs(vma[1] / base[1] - 1) < 0.02, "one thread gains nothing"
    assert base[16] < 1.6 * base[4], "without per-VMA locks the curve flattens from 4 threads on"
    assert vma[8] > 1.5 * vma[4], "with them it goes on"
    assert all(vma[n] > 1.3 * base[n] for n in counts[1:]), "they gain for every number of threads"


def deadlock():
    done = run("t 0\ncpu 1\nt 1 0\nwait 0\nexit\nt 0\nwait 1\nexit\n", "cpus=2")
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert "thread 0" in done.stderr and "thread 1" in done.stderr, done.stderr
    assert "another thread" in done.stderr, done.stderr


main()
deadlock()
