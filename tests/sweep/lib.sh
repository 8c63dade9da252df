# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - a sweep of 200 short cells, and what all its tests ask.
. "$(dirname "$0")/../cli/lib.sh"

cp small.trace a.trace
{
	echo "region heap anon 300"
	seq -f 's heap %g' 0 299
	seq -f 'l heap %g' 0 299
} >b.trace
cat >spec.json <<EOF
{"sweep": "test", "traces": ["a.trace", "b.trace"], "policies": ["fifo", "classic", "mglru", "opt"],
 "axes": {"memory": "40p..200p+40p", "vm.swappiness": [10, 60]},
 "seeds": [1, 2, 3], "set": {"swap": "null", "disk": "null"},
 "comment": "2 traces x 4 policies x 5 limits x 2 x 3 = 240 cells"}
EOF
cells=240

# same DIR1 DIR2: equal results, byte by byte, none more or less, nothing half written
same()
{
	diff -r "$1/results" "$2/results" >diff.out 2>&1 || fail "$1 and $2 differ: $(head -3 diff.out)"
	[ "$(find "$1/results" -name '*.json' | wc -l)" = $cells ] ||
		fail "$1 has $(find "$1/results" -name '*.json' | wc -l) results, not $cells"
	[ -z "$(find "$1/results" "$2/results" -name '*.tmp.*')" ] || fail "half-written files are left"
}
