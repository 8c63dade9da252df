#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run, compare and list as users call them.
. "$(dirname "$0")/lib.sh"

# --- a limit of 0 is an OOM kill of the model, not an error of the program ---
timeout 60 "$reclaimsim" run small.trace --policy classic --set memory.max=0 --json >oom.json ||
	fail "memory.max=0: exit $?"
grep -q '"oom_kill": [1-9]' oom.json || fail "memory.max=0 is no OOM kill"

# --- the result ---
for policy in fifo classic mglru hitshield; do
	timeout 60 "$reclaimsim" run small.trace --policy $policy --set memory.max=100p --json >a.json ||
		fail "$policy: exit $?"
	timeout 60 "$reclaimsim" run small.trace --policy $policy --set memory.max=100p --json -o b.json ||
		fail "$policy -o: exit $?"
	cmp -s a.json b.json || fail "$policy: two runs differ"
	timeout 60 "$reclaimsim" run - --policy $policy --set memory.max=100p --json <small.trace >c.json
	cmp -s a.json c.json || fail "$policy: standard input gives another result"
done
/usr/bin/python3 - <<'EOF' || fail "the result is not what the contract says"
import json
r = json.load(open("a.json"))
assert list(r)[:7] == ["schema", "version", "trace", "policy", "kernel", "settings", "snapshots"]
assert [s["name"] for s in r["snapshots"]] == ["half", "end"]
end = r["snapshots"][-1]
assert end["vmstat_delta"]["pgfault"] >= 200, end
assert end["vmstat_delta"]["pswpout"] > 0
assert all(isinstance(v, int) for v in end["vmstat_delta"].values())
assert r["settings"]["memory.max"] == 409600 and r["settings"]["kernel"] == "6.12"
EOF
ls | grep -q tmp && fail "temporary files are left: $(ls)"

# --- settings: --set over the machine file over the defaults, in any order with --kernel ---
echo '{"vm.swappiness": 10, "memory": {"max": "100p"}}' >machine.json
timeout 60 "$reclaimsim" run small.trace --policy classic --kernel 6.1 --machine machine.json \
	--set vm.swappiness=20 --json >a.json
grep -q '"vm.swappiness": 20' a.json || fail "--set does not go over the machine file"
grep -q '"memory.max": 409600' a.json || fail "the machine file says nothing"
"$reclaimsim" run small.trace --kernel 6.1 --machine machine.json --show-config >config.json
timeout 60 "$reclaimsim" run small.trace --policy classic --machine config.json \
	--set vm.swappiness=20 --json >b.json
cmp -s a.json b.json || fail "--show-config does not reproduce the run"

# --- pressure and latencies ---
{
	echo "region heap anon 6000"
	for pass in 1 2 3; do seq -f 's heap %g 100' 0 100 5900; done
} >loop.trace
limit="--policy mglru --set memory.max=4000p --set swap=nvme --set disk=nvme"
timeout 60 "$reclaimsim" run loop.trace $limit >text || fail "run $limit"
grep -qE '^memory +[0-9]+\.[0-9]+ +[0-9.]+ ' text || fail "no pressure in the text: $(cat text)"
grep -qE '^fault_major +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9,]+$' text || fail "no latencies in the text"
timeout 60 "$reclaimsim" run loop.trace $limit --json -o a.json
timeout 60 "$reclaimsim" run loop.trace $limit --set sample_ns=20000000 --json -o b.json
/usr/bin/python3 - <<'EOF' || fail "pressure or latencies do not fit the rest of the result"
import json
a, b = json.load(open("a.json")), json.load(open("b.json"))
end = a["snapshots"][-1]
assert a["psi"] == end["psi"] and end["psi"]["io"]["some"]["total"] > 0
threads = a["time"]["per_thread"]
assert end["memcg_psi"]["io"]["some"]["total"] == sum(t["io_wait_ns"] for t in threads) // 1000
assert end["memcg_psi"]["some"]["total"] >= sum(t["reclaim_ns"] for t in threads) // 1000 > 0
for name, row in a["latency"].items():
    assert sum(n for _, _, n in row["buckets"]) == row["count"], name
    assert row["min_ns"] <= row["p50_ns"] <= row["p90_ns"] <= row["p99_ns"] <= row["p999_ns"] <= row["max_ns"]
assert a["latency"]["fault_major"]["count"] <= end["vmstat_delta"]["pgmajfault"]
# Samples only look; their pressure grows up to that of the end.
assert b["snapshots"] == a["snapshots"] and b["latency"] == a["latency"]
totals = [s["psi"]["io"]["some"]["total"] for s in b["samples"]]
assert len(totals) > 3 and totals == sorted(totals) and 0 < totals[-1] <= end["psi"]["io"]["some"]["total"]
assert [s["accesses"] for s in b["samples"]] == sorted(s["accesses"] for s in b["samples"])
EOF
expect 0 "psi.io.some.total" "$reclaimsim" run loop.trace $limit -c psi
expect 0 "latency.fault_major.p99_ns" "$reclaimsim" compare loop.trace -p classic $limit -c latency

# --- compare ---
timeout 60 "$reclaimsim" compare small.trace -p classic -p mglru -p opt -m 100p >table ||
	fail "compare: exit $?"
grep -q 'exact (n=1)' table || fail "compare does not say that it is exact"
grep -Eq '^pgmajfault +[0-9]' table || fail "compare shows no pgmajfault"
grep -q '^simulated time (ms)' table || fail "compare shows no time"
grep -q '^cost.fault (ms) ' table || fail "compare shows costs without their unit"
timeout 60 "$reclaimsim" compare small.trace -p classic -p mglru -m 100p |
	awk 'length > 80 { exit 1 }' || fail "two policies do not fit 80 columns"
timeout 60 "$reclaimsim" compare - -p classic -p mglru -m 100p --json <small.trace >a.json
timeout 60 "$reclaimsim" compare small.trace -p classic -p mglru -m 100p --json -j 1 >b.json
cmp -s a.json b.json || fail "compare depends on -j or on standard input"
timeout 60 "$reclaimsim" compare small.trace -p classic -p classic -m 100p --exit-code >/dev/null
[ $? = 0 ] || fail "equal policies differ"
timeout 60 "$reclaimsim" compare small.trace -p classic -p fifo -m 100p --exit-code >/dev/null
[ $? = 1 ] || fail "--exit-code finds no difference"
timeout 60 "$reclaimsim" compare small.trace -p classic --variant memory.max=100p \
	--variant memory.max=50p --format csv >a.csv
grep -q '^pswpout,' a.csv || fail "variants make no columns: $(cat a.csv)"

# --- a share of the footprint, the user's configuration, -jN, progress ---
timeout 60 "$reclaimsim" run small.trace -p classic -m 50% --json >a.json || fail "-m 50%: exit $?"
timeout 60 "$reclaimsim" run small.trace -pclassic -m100p --json >b.json || fail "-m100p: exit $?"
cmp -s a.json b.json || fail "half of 200 pages are not 100 pages"
timeout 60 "$reclaimsim" compare small.trace -p classic --variant memory.max=25% --variant memory.max=50p \
	-j1 --exit-code >/dev/null || fail "a variant of 25% is not one of 50 pages"
echo '{"generator": "ycsb", "server": "redis", "records": 2000, "workloads": ["load"]}' >load.json
timeout 60 "$reclaimsim" run load.json -p classic -m 200% --json >c.json || fail "-m 200% of a load: exit $?"
"$reclaimsim" run load.json -p classic --show-config -m 200% | grep -q '"memory.max"' ||
	fail "a share of a load's footprint is no limit"
mkdir -p xdg/reclaimsim
echo '{"memory.max": "100p", "vm.swappiness": 10}' >xdg/reclaimsim/config
env -u RECLAIMSIM_CONFIG XDG_CONFIG_HOME="$work/xdg" "$reclaimsim" run small.trace -p classic \
	-s vm.swappiness=60 --json >c.json
cmp -s a.json c.json || fail "the user's configuration is not read, or not below --set"
XDG_CONFIG_HOME="$work/xdg" "$reclaimsim" run small.trace --show-config | grep -q '"vm.swappiness": 60' ||
	fail "an empty RECLAIMSIM_CONFIG does not mean none"
"$reclaimsim" compare small.trace -p classic -p mglru -m 100p --progress=always 2>err >/dev/null
grep -q '^reclaimsim\?.*2 of 2 runs done\|^compare: 2 of 2 runs done' err || fail "--progress=always: $(cat err)"
"$reclaimsim" compare small.trace -p classic -p mglru -m 100p 2>err >/dev/null
[ ! -s err ] || fail "progress without a terminal: $(cat err)"

# --- list, help, version ---
for topic in policies settings counters formats generators; do
	"$reclaimsim" list $topic --json | /usr/bin/python3 -c 'import json,sys; assert json.load(sys.stdin)' ||
		fail "list $topic --json"
	"$reclaimsim" list $topic >/dev/null || fail "list $topic"
done
"$reclaimsim" list settings memory.max | grep -q 'hard limit' || fail "list settings memory.max"
for command in run compare sweep plot check trace list; do
	"$reclaimsim" $command --help | grep -q '^Usage: reclaimsim '$command || fail "$command --help"
	"$reclaimsim" help $command | cmp -s - <("$reclaimsim" $command --help) ||
		fail "help $command differs from --help"
done
for command in run compare sweep plot check list; do
	"$reclaimsim" $command --help | grep -q '^Example:' || fail "$command --help has no example"
done
"$reclaimsim" --version | grep -q '^reclaimsim [0-9]' || fail "--version"

# --- a closed pipe is no message ---
{ "$reclaimsim" list counters; } 2>err | head -n 1 >/dev/null
[ ! -s err ] || fail "a closed pipe says: $(cat err)"
finish
