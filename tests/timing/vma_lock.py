#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What per-VMA locks gain and what not, by shape, each beside what the kernel's rules say.

Prints the figures it judges.
"""

import random

from scenario import end, interleave, run, thread

READERS = 8


def elapsed(result):
    return result["time"]["elapsed_ns"]


def faulting(region, first, pages):
    return [f"s {region} {page}" for page in range(first, first + pages)]


def readers_under_a_writer_of_their_vma_gain_nothing():
    """Every write section marks the VMA that all readers fault in, so they fall back to mmap_lock."""
    pages = 400
    programs = [["region heap anon 16384"] + faulting("heap", 0, pages)]
    programs += [faulting("heap", n * pages, pages) for n in range(1, READERS)]
    # The whole VMA each time: it stays one. The writer is there again as soon as it is done.
    programs.append(["madvise heap random", "madvise heap normal"] * 1200)
    text = interleave(programs)
    own = interleave([[f"region own{n} anon 2048", *faulting(f"own{n}", 0, pages)]
                      for n in range(READERS)] + [["region w anon 16", "s w 0"] +
                                                  ["madvise w random", "madvise w normal"] * 1200])
    gain = {}
    for name, trace in (("its VMA", text), ("a VMA of its own", own)):
        off, on = (run(trace, {"mm.per_vma_lock": lock, "cpus": READERS + 1, "memory.max": "max"})
                   for lock in ("off", "6.10"))
        last = [max(t["end_ns"] for t in r["time"]["per_thread"][:READERS]) for r in (off, on)]
        gain[name] = last[0] / last[1]
        print(f"readers under a writer of {name}: x{gain[name]:.2f} with per-VMA locks")
    assert gain["its VMA"] < 1.15, "readers of the written VMA gain"
    assert gain["a VMA of its own"] > 1.5 * gain["its VMA"], "readers of other VMAs do not gain"


def tight(lock, cpus, limit):
    """No swap cache and no read-ahead (zram): each swap fault reads its page."""
    return {"mm.per_vma_lock": lock, "cpus": cpus, "memory.max": f"{limit}p", "swap": "zram",
            "vm.page-cluster": 0}


def swapping_threads(threads=8, pages=300, rounds=3):
    """Each thread goes over a heap of its own, all together larger than the limit."""
    programs = []
    for n in range(threads):
        rnd, order = random.Random(n), list(range(pages))
        p = [f"region h{n} anon {pages} @{0x200000000 + n * 0x400000:#x}"]
        for _ in range(rounds):
            rnd.shuffle(order)
            p += [f"s h{n} {page}" for page in order]
            # A short life in between: what writers there are in such a program.
            p += [f"region t{n} anon 8 @{0x300000000 + n * 0x400000:#x}", f"s t{n} 0", f"u t{n}"]
        programs.append(p)
    return interleave(programs), threads * pages // 2


def swap_faults_retry_on_6_4_and_do_not_on_6_6():
    """Before 6.6 a swap fault under the VMA lock gives up: every one is a RETRY, and none gains."""
    text, limit = swapping_threads()
    alone = run(text, tight("6.4", 1, 200))  # below what one thread needs
    assert end(alone)["pswpin"] > 1000
    assert end(alone)["vma_lock_retry"] == end(alone)["pswpin"], \
        "a swap fault that is no RETRY, or a RETRY that is none"
    print(f"swap-heavy, one CPU, 6.4: {end(alone)['pswpin']} swap faults, "
          f"{end(alone)['vma_lock_retry']} retries")
    # With more CPUs some find a page whose compression is under way: swap faults that read nothing.
    took, retries = {}, {}
    for lock in ("off", "6.4", "6.6"):
        r = run(text, tight(lock, 8, limit))
        faults, retries[lock] = end(r)["pswpin"], end(r).get("vma_lock_retry", 0)
        took[lock] = elapsed(r)
        print(f"swap-heavy, 8 CPUs, {lock}: {faults} pages read, {retries[lock]} retries, "
              f"{took[lock] / 1e6:.2f} ms, "
              f"{sum(t['lock_wait_ns'] for t in r['time']['per_thread']) / 1e6:.2f} ms lock waits")
        if lock == "6.4":
            assert faults <= retries[lock] <= 1.05 * faults
    assert retries["off"] == retries["6.6"] == 0
    assert took["6.4"] > 0.95 * took["off"], "6.4 gains on swap faults"
    assert took["6.6"] < 0.85 * took["off"], "6.6 does not restore the gain"


def a_writer_waits_less_for_threads_that_reclaim():
    """Below the limit a fault reclaims with its lock held: mmap_lock, or its VMA's alone."""
    threads, pages = 8, 400
    text, limit = swapping_threads(threads, pages, 2)
    writer = []
    for n in range(400):
        writer += [f"region w{n} anon 4 @{0x500000000 + n * 0x10000:#x}", "cpu 20000", f"u w{n}"]
    programs_text = text + "\n".join([f"t {threads} 0"] + writer) + "\n"
    wait = {}
    for lock in ("off", "6.10"):
        r = run(programs_text, tight(lock, threads + 1, limit))
        wait[lock] = thread(r, str(threads))["lock_wait_ns"]
        print(f"writer beside {threads} threads that reclaim, {lock}: waits {wait[lock] / 1e6:.3f} "
              f"ms in {elapsed(r) / 1e6:.1f} ms")
    assert wait["off"] >= 5 * max(wait["6.10"], 1), "the writer's wait falls by less than 5x"


readers_under_a_writer_of_their_vma_gain_nothing()
swap_faults_retry_on_6_4_and_do_not_on_6_6()
a_writer_waits_less_for_threads_that_reclaim()
