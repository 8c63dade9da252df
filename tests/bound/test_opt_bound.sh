#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_opt_bound.sh PROGRAM SOURCE: without read-ahead and fault-around no policy has fewer demand
# misses than opt, on any truth trace.
#
# Compared is pgpgin, KiB read from disk and swap. With nothing read ahead every page that is read was asked
# for by an access that did not find it: one demand miss each, of a mapped page, of read() or from
# swap; opt counts the same (opt.h) and gives it as pgpgin, too. pgmajfault will not do: it leaves out
# what read() misses. swap=null is asynchronous, so its reads are in pgpgin.
set -u
program=$1
traces=$2/tests/fidelity/truth/traces
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# NAME:LIMIT, as in the runs of real kernels.
cases="anon-hotscan:16000 anon-loop:18000 anon-phase:14000 anon-threefreq:15000 anon-uniform:10000
	anon-uniform:15000 anon-zipf:16000 exec-cached:4500 exec-cached:6000 filemap-hotstream:14000
	filemap-retouch:12000 filemap-uniform:15000 kbuild-small:12000 mixed-heap:20000
	mixed-zipf:20000 read-retouch:12000 read-zipf:16000 write-mix:12000 ycsb-load:16000"

# misses TRACE LIMIT POLICY KERNEL: pages read up to the end.
misses()
{
	local kib
	if ! "$program" run "$traces/$1.trace.zst" --json --policy "$3" --kernel "$4" \
		--set "memory.max=$2p" --set swap=null --set disk=null --set read_ahead_kb=0 \
		--set fault_around_bytes=4096 --set vm.page-cluster=0 >"$work/out"; then
		echo "FAIL: $*" >&2
		return 1
	fi
	kib=$(grep -o '"pgpgin": *[0-9]*' "$work/out" | tail -n 1 | grep -o '[0-9]*$')
	[ -n "$kib" ] || { echo "FAIL: $*: no pgpgin" >&2; return 1; }
	echo $((kib / 4))
}

compared=0 sum=0
for case in $cases; do
	name=${case%:*} limit=${case#*:}
	bound=$(misses "$name" "$limit" opt 6.12) || exit 1
	sum=$((sum + bound)) # 0 where what is evicted is never used again
	row="$name $limit: opt $bound"
	for kernel in 6.1 6.12; do
		for policy in classic mglru fifo; do
			got=$(misses "$name" "$limit" "$policy" "$kernel") || exit 1
			row="$row, $policy $kernel $got"
			compared=$((compared + 1))
			if [ "$got" -lt "$bound" ]; then
				row="$row (FAIL: below the bound)"
				failures=$((failures + 1))
			fi
		done
	done
	echo "$row"
done
echo "$compared comparisons, $failures below the bound"
exit $((failures != 0 || sum == 0))
