#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run --watch and --events: lives of folios, events that ftrace's importer reads, README's example.
. "$(dirname "$0")/lib.sh"
truth=$source_dir/tests/fidelity/truth/traces

life()
{
	timeout 60 "$reclaimsim" run "$@" || fail "exit $?: run $*"
}

# --- bad watches ---
expect_line 2 'write REGION:PAGE' "$reclaimsim" run small.trace -p classic --watch heap
expect_line 2 'write REGION:PAGE' "$reclaimsim" run small.trace -p classic --watch :4
expect_line 2 '--watch "heap:x"' "$reclaimsim" run small.trace -p classic --watch heap:x
expect_line 2 '--watch "heap:9-2"' "$reclaimsim" run small.trace -p classic --watch heap:9-2
expect_line 2 'no region of that name' "$reclaimsim" run small.trace -p classic --watch stack:1 -o none
expect_line 2 'no region of that name' "$reclaimsim" run small.trace -p classic --watch heap:200 -o none
expect_line 2 'no file of that name' "$reclaimsim" run small.trace -p classic --watch file:a:1 -o none
expect_line 2 'add -o FILE' "$reclaimsim" run small.trace -p classic --watch heap:1 --json
expect_line 2 'opt is a bound' "$reclaimsim" run small.trace -p opt -m 100p --watch heap:1
expect_line 2 'cannot write' "$reclaimsim" run small.trace -p classic --events /nowhere/x
[ ! -e none ] || fail "a result is written although a watch met nothing"

# --- a page is the same page before and after it was swapped out; a range tells of its pages only ---
for policy in fifo classic mglru hitshield; do
	for kernel in 6.1 6.12 7.2; do
		life small.trace -p $policy -k $kernel -m 100p -s swap=null --watch heap:3-5 >life
		for page in 3 4 5; do
			grep -w "heap:$page" life | awk '
				/faulted in/ { if (seen++) bad = "faulted in twice" }
				/EVICTED/ { if (out) bad = "evicted twice"; out = 1 }
				/read from swap/ { if (!out) bad = "read while in memory"; out = 0; back++ }
				END { if (!seen || bad) { print bad; exit 1 } }' ||
				fail "$policy $kernel: life of heap:$page: $(grep -w "heap:$page" life)"
		done
		grep -oE 'heap:[0-9]+' life | sort -u | tr '\n' ' ' | grep -qx 'heap:3 heap:4 heap:5 ' ||
			fail "$policy $kernel: other pages than 3 to 5 are told of"
		grep -q 'EVICTED by reclaim at the limit' life || fail "$policy $kernel: nobody evicts heap:3-5"
		grep -q 'read from swap' life || fail "$policy $kernel: heap:3-5 do not come back"
	done
done
life small.trace -p mglru -m 100p --watch heap:3-5 >a
life small.trace -p mglru -m 100p --watch heap:3-5 >b
cmp -s a b || fail "two lives differ"

# --- who looks on changes nothing ---
life small.trace -p mglru -m 100p --json >plain.json
life small.trace -p mglru -m 100p --watch heap:0-199 --events events --json -o watched.json >/dev/null
cmp -s plain.json watched.json || fail "watching changes the result"

# --- a file's page, by the file's name and by a region that maps it; a copy is a page of its own ---
cat >file.trace <<END
file data 300
region map file data 300
region copy file data 300 rw-p
s copy 7
$(seq -f 'l map %g' 0 299)
$(seq -f 'l map %g' 0 299)
END
life file.trace -p classic -m 100p --watch file:data:7 >life
grep -q 'data:7 .*added to the page cache' life || fail "file:data:7: $(cat life)"
grep -q 'data:7 .*EVICTED' life || fail "file:data:7 is not evicted: $(cat life)"
grep -q 'data:7 .*read into the page cache, where its shadow is' life || fail "file:data:7 does not come back"
life file.trace -p classic -m 100p --watch map:7 | grep -q 'map:7 .*EVICTED' ||
	fail "map:7 is not known as a page of its file"
life file.trace -p classic -m 100p --watch copy:7 | grep -q 'copy:7 .*new anonymous page' ||
	fail "the copy of a file's page is not told of"

# --- events: the importer reads them, and their sums are the counters ---
for policy in classic mglru; do
	life "$truth/kbuild-small.trace.zst" -p $policy -k 6.12 -m 8000p --events $policy.events \
		--json -o $policy.json
	timeout 60 "$reclaimsim" trace import --format ftrace $policy.events -o imported --json >sums.json ||
		fail "$policy: the importer refuses the events"
	/usr/bin/python3 - $policy <<'END' || fail "$policy: sums of events are not the counters"
import json, sys
sums = json.load(open("sums.json"))
end = json.load(open(sys.argv[1] + ".json"))["snapshots"][-1]["vmstat_delta"]
lists = sums["isolated_pages"]
assert sums["malformed"] == 0 and sums["time_goes_back"] == 0
assert lists["inactive_anon"] == end["pgscan_anon"], lists
assert lists["inactive_file"] == end["pgscan_file"], lists
stolen = end["pgsteal_anon"] + end["pgsteal_file"]
assert sums["reclaim_end_total"] == sums["inactive_reclaimed"] == stolen > 0
if sys.argv[1] == "classic":
    assert sums["active_deactivated"] == end["pgdeactivate"] > 0
    assert sums["inactive_scanned"] == end["pgscan_anon"] + end["pgscan_file"]
assert sums["page_cache_pages_deleted"] == end["pgsteal_file"]
END
	"$reclaimsim" trace import $policy.events -o imported --json | grep -q '"format": "ftrace"' ||
		fail "$policy: events are not told to be ftrace's"
done
life "$truth/anon-loop.trace.zst" -p classic -s node0.memory=40M -s swap=virtio --events kswapd -o /dev/null
for event in mm_vmscan_wakeup_kswapd mm_vmscan_kswapd_wake mm_vmscan_direct_reclaim_begin mm_vmscan_write_folio; do
	grep -q ": $event: " kswapd || fail "no $event when memory runs out"
done

# --- the example of the README: what it says of hot:788 is still what happens ---
settings="-m 16000p -s vm.page-cluster=0 -s read_ahead_kb=0 -s fault_around_bytes=4096 -s swap=null"
for policy in classic mglru; do
	life "$truth/anon-hotscan.trace.zst" -p $policy $settings --watch hot:788 | cut -c 15- >life.$policy
	sed -n "/^    .*-p $policy .*--watch hot:788/,/^\$/p" "$source_dir/README.md" | sed '1,2d; s/^    //; /^$/d' >told
	[ "$(wc -l <told)" -gt 5 ] || fail "README lacks the life of hot:788 under $policy"
	# Lines in their order; "..." leaves some out.
	grep -vx '\.\.\.' told | awk 'NR == FNR { want[++n] = $0; next }
		i < n && $0 == want[i + 1] { i++ }
		END { if (i < n) { print "not so: " want[i + 1]; exit 1 } }' - life.$policy ||
		fail "README is no longer true under $policy: $(cat life.$policy)"
done
life "$truth/anon-hotscan.trace.zst" -p classic $settings --watch hot:0-7999 | grep ': evicted' |
	awk '{ gsub("[:,]", ""); print $1, $3 }' | sort >classic.sums
life "$truth/anon-hotscan.trace.zst" -p mglru $settings --watch hot:0-7999 | grep ': evicted' |
	awk '{ gsub("[:,]", ""); print $1, $3 }' | sort >mglru.sums
others=$(join classic.sums mglru.sums | awk '$2 == 0 && $3 { n++ } END { print n }' | sed 's/...$/,&/')
tr '\n' ' ' <"$source_dir/README.md" | grep -qF "MGLRU evicts $others others" ||
	fail "README is wrong on the others: MGLRU evicts $others that classic keeps"
for policy in classic mglru; do
	life "$truth/anon-hotscan.trace.zst" -p $policy $settings -c pswpin | awk '/^pswpin/ { print $NF }' >pswpin.$policy
done
grep -qF "($(cat pswpin.classic) to $(cat pswpin.mglru))" "$source_dir/README.md" ||
	fail "README is wrong on pswpin: $(cat pswpin.classic) to $(cat pswpin.mglru)"
grep -q 'hot:788: evicted 1,' <(life "$truth/anon-hotscan.trace.zst" -p classic $settings --watch hot:788) ||
	fail "classic does not evict hot:788 once"
grep -q 'hot:788: evicted 0,' <(life "$truth/anon-hotscan.trace.zst" -p mglru $settings --watch hot:788) ||
	fail "mglru does not keep hot:788"
finish
