#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_same_bytes.sh PROGRAM SOURCE: every build gives the same bytes for the same input, and so does a
# second run. Compared are PROGRAM and the programs of the other presets in SOURCE/build as far as
# they are there and as new as the sources (tools/test builds release, debug, clang, in this order,
# so the last of them sees all three).
set -u
program=$1
source_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

programs=("$program")
newest=$(find "$source_dir"/{include,sim,traces,policies,tools} -name '*.[ch]' -printf '%T@ %p\n' |
	sort -n | tail -n 1 | cut -d' ' -f2-)
for preset in release debug clang; do
	other=$source_dir/build/$preset/reclaimsim
	[ "$other" -ef "$program" ] && continue
	if [ ! -x "$other" ]; then
		echo "skipped: build/$preset is not there"
	elif [ "$newest" -nt "$other" ]; then
		echo "skipped: build/$preset is older than $newest"
	else
		programs+=("$other")
	fi
done

# Two processes with three threads on shared memory and a file, with more than fits.
make_threads()
{
	echo 'file data 600'
	echo 'region heap anon 500'
	echo 'region lib file data 400 r--s'
	echo 's heap 0 200'
	echo 't 1 0'
	echo 'r data 0 100'
	echo 'fork 2'
	awk 'BEGIN {
		x = 12345
		for (i = 0; i < 3000; i++) {
			x = (x * 1103515245 + 12345) % 2147483648
			if (i % 40 == 0)
				print "t", int(i / 40) % 3
			p = int(x / 65536)
			if (p % 7 == 0)
				print "r data", p % 590, 1 + p % 10
			else if (p % 7 == 1)
				print "w data", p % 590, 1 + p % 3
			else if (p % 7 == 2)
				print "l lib", p % 400
			else
				print p % 2 ? "s" : "l", "heap", p % 500
		}
	}'
	echo 'm done'
}
make_threads >"$work/threads.trace"

# compare TRACE OPTION...: all programs, the first one twice.
compare()
{
	local trace=$1 first="" p i sum
	shift
	for p in "${programs[@]}" "$program"; do
		if ! "$p" run "$trace" --json "$@" >"$work/out" 2>"$work/err"; then
			echo "FAIL: $p run $trace $*: $(cat "$work/err")"
			failures=$((failures + 1))
			return
		fi
		sum=$(sha256sum <"$work/out")
		[ -n "$first" ] || first=$sum
		if [ "$sum" != "$first" ]; then
			echo "FAIL: $p differs from $program: $(basename "$trace") $*"
			failures=$((failures + 1))
		fi
	done
	cases=$((cases + 1))
}

cases=0
for kernel in 5.18 6.1 6.12 6.14 7.2; do
	for policy in classic mglru fifo; do
		with="--policy $policy --kernel $kernel"
		# shellcheck disable=SC2086 # words
		compare "$work/threads.trace" $with --set memory.max=300p --set cpus=2
		# shellcheck disable=SC2086
		compare "$work/threads.trace" $with --set node0.memory=4M --set swap=zram --set cpus=4
	done
done
for policy in classic mglru; do
	compare "$source_dir/tests/data/traces/anon-loop.trace.zst" --policy $policy --set memory.max=8000p
	compare "$source_dir/tests/data/traces/write-mix.trace.zst" --policy $policy --set memory.max=8000p
done
# 128 threads that map, touch and unmap, with room for half of them.
echo '{"generator": "launch-threads", "threads": 128, "rounds": 4}' >"$work/launch.json"
for lock in off 6.4 6.10; do
	compare "$work/launch.json" --policy mglru --set cpus=128 --set mm.per_vma_lock=$lock
	compare "$work/launch.json" --policy classic --set cpus=16 --set memory.max=6000p --set mm.per_vma_lock=$lock
done
compare "$source_dir/tests/data/traces/anon-loop.trace.zst" --policy opt --set memory.max=8000p

echo "$cases cases, ${#programs[@]} builds, $failures differences"
exit $((failures != 0))
