#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where HitShield and exec promotion have nothing to act on they decide as the multi-gen LRU does.

Results are compared whole: counters at every mark, generations, costs, times. Each control has a
counterpart in which the mechanism acts, so that equal results are no accident.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
SPECS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "specs")
LIMIT = {"swap": "null", "disk": "null", "vm.page-cluster": "0"}

# Each page is stored to once a lap, and the laps are longer than memory.
ONCE = {"processes": [{"regions": {"heap": {"anon": "6000p"}}, "phases": [
    {"repeat": 3, "mix": [{"region": "heap", "pattern": "scan", "write": 1}]}]}]}
READS = {"files": {"data": {"size": "9000p"}}, "processes": [{"count": 2, "phases": [
    {"accesses": 30000, "mix": [{"file": "data", "pattern": "zipf", "theta": 0.8}]}]}]}


def text_beside_heap(prot, text, weight):
    """A text of which every page is used again and again, and a heap that makes the lists age."""
    mix = [{"region": "text", "pattern": "loop", "weight": weight},
           {"region": "heap", "pattern": "loop", "write": 1}]
    return {"files": {"text": {"size": text}}, "processes": [{
        "regions": {"text": {"file": "text", "prot": prot, "shared": True}, "heap": {"anon": "5000p"}},
        "phases": [{"name": "warm", "mark": True, "accesses": 200000, "mix": mix},
                   {"accesses": 200000, "mix": mix}]}]}


def run(spec, policy, kernel, limit):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        if isinstance(spec, dict):
            json.dump(dict({"generator": "mix"}, **spec), file)
            file.flush()
            spec = file.name
        else:
            spec = os.path.join(SPECS, spec)
        command = [PROGRAM, "run", spec, "--policy", policy, "--kernel", kernel, "--memory", limit, "--json"]
        for key, value in LIMIT.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    result = json.loads(done.stdout)
    del result["policy"]
    own = [snapshot.pop("policy", {}) for snapshot in result["snapshots"]]
    return result, own, done.stderr.decode(), result.pop("warnings")


def vmstat(result, name):
    return result["snapshots"][-1]["vmstat_delta"][name]


def since_mark(result, name):
    return vmstat(result, name) - result["snapshots"][0]["vmstat_delta"][name]


class Controls(unittest.TestCase):
    maxDiff = 2000

    def same(self, spec, policy, kernel, limit):
        base = run(spec, "mglru", kernel, limit)[0]
        self.assertGreater(vmstat(base, "pgsteal_anon") + vmstat(base, "pgsteal_file"), 1000)
        self.assertEqual(run(spec, policy, kernel, limit)[0], base)

    def differs(self, spec, policy, kernel, limit):
        self.assertNotEqual(run(spec, policy, kernel, limit)[0], run(spec, "mglru", kernel, limit)[0])

    def test_hitshield_acts_on_a_set_used_in_many_ageing_periods(self):
        for kernel in "6.1", "6.12":
            self.differs("gap-short.json", "hitshield", kernel, "16000p")

    def lives(self, kernel):
        """What happens to the pages of a set that rests: times spared, times activated."""
        with tempfile.NamedTemporaryFile() as file:
            done = subprocess.run(
                [PROGRAM, "run", os.path.join(SPECS, "rest-4000.json"), "--policy", "hitshield", "--kernel", kernel,
                 "--memory", "8000p", "--set", "swap=null", "--set", "vm.page-cluster=0", "--watch",
                 "app.h:0-2399", "-o", file.name], check=True, stdout=subprocess.PIPE)
        told = done.stdout.decode()
        return told.count(" moved on from ") - told.count(" protected: "), told.count(" activated from a batch")

    def test_hitshield_spares_fewer_on_6_12_where_look_around_activates(self):
        """An activation is an add, which sets the counter to 1."""
        spared, activated = self.lives("6.1")
        spared_6_12, activated_6_12 = self.lives("6.12")
        self.assertGreater(activated_6_12, 5 * activated)
        self.assertLess(2 * spared_6_12, spared)

    def test_hitshield_is_idle_when_no_folio_is_updated_four_times(self):
        for kernel in "6.1", "6.12":
            self.same(ONCE, "hitshield", kernel, "4000p")

    def test_hitshield_is_idle_on_read(self):
        for kernel in "6.1", "6.12":
            self.same(READS, "hitshield", kernel, "4000p")

    def test_exec_promote_acts_on_an_executable_text(self):
        for kernel in "6.14", "7.2":
            self.differs("exec-heap.json", "exec-promote", kernel, "12000p")

    def test_exec_promote_is_idle_without_executable_mapping(self):
        for kernel in "6.14", "7.2":
            self.same(text_beside_heap("rw", "2000p", 0.3), "exec-promote", kernel, "4000p")

    def test_exec_promote_is_idle_on_6_12_and_says_so(self):
        self.same("exec-heap.json", "exec-promote", "6.12", "12000p")
        _, _, said, warnings = run(ONCE, "exec-promote", "6.12", "4000p")
        self.assertIn("exec-promote: kernels before 6.14", warnings[0])
        self.assertIn(warnings[0], said)
        self.assertEqual(run(ONCE, "exec-promote", "6.14", "4000p")[3], [])

    def refaults_of_a_hot_text(self, kernel):
        spec = text_beside_heap("rx", "60p", 20)
        base, patched = (run(spec, p, kernel, "4000p")[0] for p in ("mglru", "exec-promote"))
        self.assertGreater(since_mark(base, "pgsteal_anon"), 1000)
        return [since_mark(r, "workingset_refault_file") for r in (base, patched)]

    def test_a_text_used_whole_in_every_ageing_period_refaults_equally_on_7_2(self):
        base, patched = self.refaults_of_a_hot_text("7.2")
        self.assertEqual(patched, base)

    def test_a_hot_text_is_lost_on_6_14_only_where_one_call_ages_and_evicts(self):
        """
        Used in every period, yet the walk takes the first use and the eviction of the same call
        finds none: whole texts of 60 pages go, and their shadows carry no working set.
        """
        base, patched = self.refaults_of_a_hot_text("6.14")
        self.assertEqual(patched, 0)
        self.assertEqual(base % 60, 0)
        self.assertLess(base, 5 * 60)


if __name__ == "__main__":
    unittest.main()
