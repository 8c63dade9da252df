#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run --timeline: Chrome's trace events, checked against the result; looking on changes nothing.
. "$(dirname "$0")/lib.sh"
samples=$source_dir/traces/samples
check=$source_dir/tests/cli/check_timeline.py

# timeline NAME TRACE [OPTION...]
timeline()
{
	local name=$1
	shift
	timeout 100 "$reclaimsim" run "$@" --json -o "$name.plain.json" || fail "$name: exit $?"
	timeout 100 "$reclaimsim" run "$@" --json -o "$name.json" --timeline "$name.timeline.json" ||
		fail "$name: exit $?"
	cmp -s "$name.json" "$name.plain.json" || fail "$name: looking on has changed the result"
	"$check" "$name.timeline.json" "$name.json" >"$name.out" 2>&1 || fail "$(cat "$name.out")"
}

has()
{
	grep -q "\"name\":\"$2\"" "$1.timeline.json" || fail "$1: no $2"
}

# Reclaim at a limit, I/O, forks and exits.
timeline limit "$samples/make-j2.trace" -p mglru -m 10000p -s swap=ssd -s disk=ssd
for what in "page fault" "a page read" "memcg reclaim" "shrink node" "page-table walk" \
	"new generation" nr_free_pages memory.current pgsteal fork exit; do
	has limit "$what"
done
timeline classic "$samples/make-j2.trace" -p classic -k 6.1 -m 10000p -s swap=zram -s disk=nvme
# Locks between threads, on several CPUs.
sed -E 's/("threads": )[0-9]+/\18/; s/("rounds": )[0-9]+/\130/' "$samples/launch-threads.json" >threads.json
timeline locks threads.json -p mglru -m 20M -s cpus=4 -s mm.per_vma_lock=off -s swap=nvme
has locks 'mmap_lock (write)'
has locks 'run queue'
# kswapd and direct reclaim; dirty pages and the flusher.
{
	echo "region heap anon 30000"
	echo "file log 20000"
	for i in $(seq 0 100 25900); do echo "s heap $i 100"; done
	for i in $(seq 0 100 19900); do echo "w log $i 100"; done
	for i in $(seq 0 100 25900); do echo "s heap $i 100"; done
} >global.trace
timeline global global.trace -p classic -s node0.memory=96M -s swap=nvme -s disk=hdd -s cpus=2
has global "balance node"
has global "direct reclaim"
has global "write back"
# A victim's spans end with it.
timeline oom global.trace -p mglru -s node0.memory=96M -s swap=nvme -s lru_gen.min_ttl_ms=100000
has oom "OOM kill"

# The check does see what is wrong: a wait that is longer, one that is gone, an end too many.
spoilt()
{
	sed -E "$1" limit.timeline.json >spoilt.json
	cmp -s limit.timeline.json spoilt.json && fail "nothing to spoil: $1"
	"$check" spoilt.json limit.json >/dev/null 2>&1 && fail "the check does not see: $1"
}
spoilt '0,/"name":"a page read"/ s/"dur":([0-9]+)(.*"a page read")/"dur":1\1\2/'
spoilt '/"name":"run queue"/d'
spoilt '0,/"ph":"E"/ s/(.*"ph":"E".*)/\1\n\1/'
spoilt '0,/"ph":"B".*"page fault"/ s/"ph":"B"(.*"page fault")/"ph":"i"\1/'

expect_line 2 'cannot write' "$reclaimsim" run small.trace -p classic --timeline /nowhere/x
expect_line 2 'opt is a bound' "$reclaimsim" run small.trace -p opt -m 100p --timeline x.json
[ ! -e x.json ] || fail "a file without a run"
echo "s nowhere 1" >bad.trace
expect_line 2 'bad.trace' "$reclaimsim" run bad.trace -p classic --timeline x.json
[ ! -e x.json ] || fail "a file from a run that failed"
finish
