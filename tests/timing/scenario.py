# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of threads of one process, written here, and what a run of one says."""

import json
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]


def interleave(programs, piece=40):
    """One trace of the threads' programs, piece by piece in turn."""
    lines = []
    for at in range(0, max(map(len, programs)), piece):
        for t, p in enumerate(programs):
            if at < len(p):
                lines.append(f"t {t} 0" if t else "t 0")
                lines += p[at:at + piece]
    return "\n".join(lines) + "\n"


def run_file(path, settings, policy="mglru"):
    """The result's JSON text of a trace or a generator's spec on the machine that the settings say."""
    args = [BINARY, "run", path, "--policy", policy, "--json"]
    for key, value in settings.items():
        args += ["--set", f"{key}={value}"]
    done = subprocess.run(args, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_text(text, settings, policy="mglru", suffix=".trace"):
    """The same of a trace's text, or with the suffix .json of a spec's."""
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as f:
        f.write(text)
        f.flush()
        return run_file(f.name, settings, policy)


def run(text, settings, policy="mglru"):
    return json.loads(run_text(text, settings, policy))


def end(result):
    return result["snapshots"][-1]["vmstat_delta"]


def thread(result, name):
    return next(t for t in result["time"]["per_thread"] if t["name"] == name)
