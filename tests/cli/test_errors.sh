#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every mistake of a user: exit 2, one line that says what, where, and what would be valid.
. "$(dirname "$0")/lib.sh"
run="$reclaimsim run small.trace --policy classic"

# --- command line ---
expect_line 2 'a command is missing' "$reclaimsim"
expect_line 2 'unknown command "comapre", did you mean "compare"?' "$reclaimsim" comapre
expect_line 2 'Unknown option --polcy' "$reclaimsim" run small.trace --polcy x
expect_line 2 'the trace is missing' "$reclaimsim" run --policy classic
expect_line 2 '--policy is missing' "$reclaimsim" run small.trace
expect_line 2 'nosuch' "$reclaimsim" run small.trace --policy nosuch
expect_line 2 'two to 24 columns' "$reclaimsim" compare small.trace --policy classic
expect_line 2 'list what?' "$reclaimsim" list

expect_line 2 'unknown policy "mglur", did you mean "mglru"?' "$reclaimsim" run small.trace -p mglur

# --- settings ---
expect_line 2 'unknown setting "memory.mx", did you mean "memory.max"?' $run --set memory.mx=1
expect_line 2 '1G for powers of 1024' $run --set memory.max=1GB
expect_line 2 'write KEY=VALUE' $run --set memory.max
expect_line 2 'is none of 5.18, 6.1, 6.12, 6.14, 7.2' $run --kernel 4.19
expect_line 2 'cannot open' $run --machine nosuch.json
expect_line 2 'nosuch.json' env RECLAIMSIM_CONFIG=nosuch.json $run
expect_line 2 'a share of the footprint' $run -m x%
expect_line 2 'needs the trace as a file' "$reclaimsim" run - --policy classic -m 50% </dev/null
expect_line 2 'unknown unit' $run --set swap.size=50%
expect_line 2 '--progress now: auto, always or never' "$reclaimsim" compare small.trace -p classic -p mglru --progress now
printf '{"vm": {\n  "swapiness": 1}}' >machine.json
expect_line 2 'machine.json:2:3: unknown setting "vm.swapiness"' $run --machine machine.json
printf '{"swap": "null", "swap": "null"}' >machine.json
expect_line 2 'machine.json:1:23: duplicate object key' $run --machine machine.json

# --- traces ---
expect_line 2 'nosuch.trace' "$reclaimsim" run nosuch.trace --policy classic
printf 'region a anon 4\ns b 0\n' >bad.trace
expect_line 2 'bad.trace:2' "$reclaimsim" run bad.trace --policy classic
printf 's a 0\nregion a anon 4\n' >bad.trace
expect_line 2 'bad.trace:1' "$reclaimsim" run bad.trace --policy classic
"$reclaimsim" trace convert small.trace small.native >/dev/null || fail "trace convert"
head -c 100 small.native >cut.native
expect_line 2 'cut.native' "$reclaimsim" run cut.native --policy classic
cp small.native broken.native
size=$(stat -c %s broken.native)
printf '\377\377\377\377' | dd of=broken.native bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
expect_line 2 'broken.native' "$reclaimsim" run broken.native --policy classic
: >empty.trace
expect 2 'empty.trace' "$reclaimsim" run empty.trace --policy classic

# --- output ---
expect 2 'No space left on device' $run -o /dev/full
expect 2 'cannot write nosuch/result.json' $run --json -o nosuch/result.json
if timeout 60 $run >/dev/full 2>err; then
	fail "a full standard output is no error"
fi
grep -q 'cannot write .*standard output: No space left' err || fail "says \"$(cat err)\""
[ ! -e result.json ] || fail "a result was left behind"
finish
