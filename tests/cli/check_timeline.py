#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_timeline.py TIMELINE RESULT: spans nest, nobody is at two places at once, and the sums of
spans are what the result says, to the nanosecond."""
import collections
import json
import sys
from decimal import Decimal

PHASES = set("MBEXiC")


def fail(text):
    sys.exit(f"check_timeline.py: {sys.argv[1]}: {text}")


def ns(value):
    number = Decimal(value) * 1000
    if number != int(number) or number < 0:
        fail(f"{value} us is no number of nanoseconds")
    return int(number)


def check_form(event):
    if event["ph"] not in PHASES or not isinstance(event["pid"], int) or event["pid"] < 1:
        fail(f"bad event {event}")
    if event["ph"] in "BXiC" and not event["name"]:
        fail(f"no name: {event}")
    if event["ph"] == "C" and not all(isinstance(v, int) for v in event["args"].values()):
        fail(f"a counter is no number: {event}")


def spans_of(events):
    """[(start, end, name, category, args)] of one track; B and E must match in the file's order."""
    spans, stack, last = [], [], 0
    for e in events:
        if e["ph"] == "X":
            spans.append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"], e["cat"],
                          e.get("args", {})))
        elif e["ph"] in "BE":
            if ns(e["ts"]) < last:
                fail(f"goes back in time: {e}")
            last = ns(e["ts"])
            if e["ph"] == "B":
                stack.append(e)
            elif not stack:
                fail(f"ends what has not begun: {e}")
            else:
                b = stack.pop()
                spans.append((ns(b["ts"]), last, b["name"], b["cat"], e.get("args", {})))
    if stack:
        fail(f"never ends: {stack[-1]}")
    return spans


def check_nesting(spans):
    stack = []
    for start, end, name, *_ in sorted(spans, key=lambda s: (s[0], -s[1])):
        while stack and stack[-1][1] <= start:
            stack.pop()
        if stack and stack[-1][1] < end:
            fail(f"{name} {start}..{end} reaches out of {stack[-1]}")
        stack.append((start, end, name))


def check_alone(spans):
    last = 0
    for start, end, name, *_ in sorted(spans):
        if start < last:
            fail(f"{name} at {start} overlaps what ends at {last}")
        last = end


def total(spans, category, names=None):
    return sum(end - start for start, end, name, cat, _ in spans
               if cat == category and (names is None or name in names))


def main():
    timeline = json.load(open(sys.argv[1]), parse_float=Decimal)
    result = json.load(open(sys.argv[2]))
    tracks, names, groups = collections.defaultdict(list), {}, {}
    for e in timeline["traceEvents"]:
        check_form(e)
        key = (e["pid"], e["tid"])
        if e["ph"] == "M":
            if e["name"] == "process_name":
                groups[e["pid"]] = e["args"]["name"]
            elif e["name"] == "thread_name":
                names[key] = e["args"]["name"]
        elif key not in names:
            fail(f"a track without a name: {e}")
        else:
            tracks[key].append(e)

    spans = {key: spans_of(events) for key, events in tracks.items()}
    on_cpu, io, busy = collections.Counter(), collections.defaultdict(list), 0
    for key, own in spans.items():
        group = groups[key[0]]
        if group in ("CPUs", "swap device", "disk"):
            check_alone(own)
        else:
            check_nesting(own)
        if group == "CPUs":
            busy += total(own, "run")
            for start, end, _, _, args in own:
                on_cpu[args["task"]] += end - start
        elif group in ("swap device", "disk"):
            io["swap" if group == "swap device" else "disk"] += own

    def same(what, seen, expected):
        if seen != expected:
            fail(f"{what}: {seen} in the timeline, {expected} in the result")

    same("busy CPUs", busy, result["time"]["cpu_busy_ns"])
    for name, device in result["devices"].items():
        if device["kind"] in ("null", "zram", "none"):
            continue
        same(f"requests of {name}", len(io[name]), device["reads"] + device["writes"])
        same(f"busy time of {name}", total(io[name], "io"), device["busy_ns"])
        same(f"bytes of {name}", sum(s[4]["bytes"] for s in io[name]),
             device["read_bytes"] + device["written_bytes"])

    threads = [key for key in sorted(spans, key=lambda k: k[1])
               if groups[key[0]].startswith("process ")]
    rows = [t for t in result["time"]["per_thread"]]
    same("threads", len(threads), len(rows))
    reclaim = ("memcg reclaim", "direct reclaim", "proactive reclaim")
    for key, row in zip(threads, rows):
        own, who = spans[key], names[key]
        same(f"name of {who}", who, "thread " + row["name"])
        same(f"CPU time of {who}", on_cpu[key[1] - 1], row["cpu_ns"])
        same(f"I/O waits of {who}", total(own, "wait.io"), row["io_wait_ns"])
        same(f"lock waits of {who}", total(own, "wait.lock"), row["lock_wait_ns"])
        same(f"throttling of {who}", total(own, "wait.throttle"), row["throttle_ns"])
        same(f"run queue of {who}", total(own, "wait.cpu"), row["run_wait_ns"])
        same(f"sleep of {who}", total(own, "wait.sleep"), row["sleep_ns"])
        same(f"reclaim of {who}", total(own, "reclaim", reclaim), row["reclaim_ns"])
        same(f"major faults of {who}", sum(s[4].get("major", 0) for s in own if s[3] == "fault"),
             row["major_faults"])

    counters = {}
    for key, events in tracks.items():
        for e in events:
            if e["ph"] == "C":
                counters[e["name"]] = e["args"]["pages"]
    same("free pages at the end", counters["nr_free_pages"],
         result["snapshots"][-1]["vmstat_now"]["nr_free_pages"])
    print(len(timeline["traceEvents"]), "events,", len(threads), "threads,",
          sum(len(s) for s in spans.values()), "spans")


main()
