#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A sweep on this host: in one shot, in steps, killed half way, with a cell that fails.
. "$(dirname "$0")/lib.sh"

expect 0 "$cells of $cells cells done, 0 failed, 0 missing" "$reclaimsim" sweep spec.json -o one

# --- steps ---
expect 0 "cells            $cells" "$reclaimsim" sweep plan spec.json -o steps
expect 3 "0 of $cells cells done, 0 failed, $cells missing" "$reclaimsim" sweep status steps
for k in 0 1 2 3; do
	expect 0 "60 done, 0 failed" "$reclaimsim" sweep exec steps --chunk $k/4
done
expect 0 "60 done" env SLURM_ARRAY_TASK_ID=2 "$reclaimsim" sweep exec steps --chunk /4
expect 2 "write K/N" "$reclaimsim" sweep exec steps --chunk 4/4
expect 0 "$cells of $cells" "$reclaimsim" sweep status steps
same one steps

# --- collect ---
expect 0 "" "$reclaimsim" sweep collect one -o all.jsonl
[ "$(wc -l <all.jsonl)" = $cells ] || fail "collect gives $(wc -l <all.jsonl) lines"
/usr/bin/python3 -c '
import json
rows = [json.loads(line) for line in open("all.jsonl")]
assert [r["cell"] for r in rows] == list(range(len(rows)))
for r in rows:
    assert r["result"]["policy"] == r["axes"]["policy"], r["axes"]
    assert r["result"]["settings"]["seed"] == int(r["axes"]["seed"])
    assert r["result"]["settings"]["memory.max"] == 4096 * int(r["axes"]["memory.max"][:-1])
' || fail "collected cells are not what their axes say"
expect 0 "trace,policy,memory.max,vm.swappiness,seed,pgmajfault" \
	"$reclaimsim" sweep collect one --counters pgmajfault

# --- killed half way and continued: no point lost, none different ---
for attempt in 1 2 3; do
	"$reclaimsim" sweep spec.json -o killed --quiet 2>/dev/null &
	pid=$!
	for i in $(seq 200); do
		[ "$(find killed/results -name '*.json' 2>/dev/null | wc -l)" -ge $((attempt * 40)) ] && break
		sleep 0.02
	done
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
done
before=$(find killed/results -name '*.json' | wc -l)
[ "$before" -lt $cells ] || echo "note: the sweep was faster than its killer"
find killed/results -name '*.json' -exec stat -c '%n %Y %i' {} + | sort >stamps.before
expect 0 "$cells of $cells cells done" "$reclaimsim" sweep spec.json -o killed
find killed/results -name '*.json' -exec stat -c '%n %Y %i' {} + | sort >stamps.after
[ -z "$(comm -23 stamps.before stamps.after)" ] || fail "finished cells were run again"
find killed -name '*.tmp.*' -delete # of the killed writers
same one killed

# --- a torn result is no result ---
victim=$(find steps/results -name '*.json' | sort | head -1)
head -c 100 "$victim" >torn && mv torn "$victim"
expect 3 "239 of 240 cells done, 0 failed, 1 missing" "$reclaimsim" sweep status steps
expect 0 "240 of 240" "$reclaimsim" sweep submit steps
same one steps

# --- a cell that fails is listed, kept, and tried again ---
printf 'region a anon 4\ns b 0\n' >b.trace
expect 3 "120 of 240 cells done, 120 failed" "$reclaimsim" sweep spec.json -o bad
expect 3 'b.trace:2' "$reclaimsim" sweep status bad --list
expect 3 "120 of 240 cells have no result" "$reclaimsim" sweep collect bad -o part.jsonl
"$reclaimsim" sweep status bad --json | /usr/bin/python3 -c '
import json, sys
s = json.load(sys.stdin)
assert (s["done"], s["failed"], s["missing"], len(s["unfinished"])) == (120, 120, 0, 120)
' || fail "status --json"
# The trace has changed under the plan: another plan, another folder.
printf 'region a anon 4\ns a 0\n' >b.trace
expect 2 "holds another sweep" "$reclaimsim" sweep spec.json -o bad

expect 0 "estimate" "$reclaimsim" sweep spec.json -o dry --dry-run
[ ! -e dry ] || fail "--dry-run writes"
finish
