#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every kind of plot from real results has data and axis labels; gnuplot warns of nothing (a warning
# is an error of the program). With RS_PLOT_EXAMPLES=DIR the pictures go there: tests/cli/plots.
. "$(dirname "$0")/lib.sh"
samples=$source_dir/traces/samples
build=$samples/kernel-build.trace.zst
pictures=${RS_PLOT_EXAMPLES:-$work}

# picture KIND INPUT... [OPTION...]: PNG and SVG; labels and data are there
picture()
{
	local kind=$1
	shift
	expect 0 "" "$reclaimsim" plot "$kind" "$@" -o "$pictures/$kind.png" --keep "$kind"
	expect 0 "" "$reclaimsim" plot "$kind" "$@" -o "$kind.svg"
	[ "$(head -c 4 "$pictures/$kind.png" | tail -c 3)" = PNG ] || fail "$kind.png is no PNG"
	/usr/bin/python3 -c "import sys, xml.dom.minidom as m; m.parse('$kind.svg')" ||
		fail "$kind.svg is not well formed"
	grep -q "^set xlabel '." "$kind/plot.gp" || fail "$kind has no label at x"
	grep -q "^set ylabel '." "$kind/plot.gp" || fail "$kind has no label at y"
	[ "$(grep -c '[0-9]' "$kind/plot.dat")" -ge 2 ] || fail "$kind has no data"
	# What was kept draws the same picture.
	(cd "$kind" && gnuplot plot.gp && cmp -s "$kind.png" "$pictures/$kind.png") ||
		fail "plot.gp of $kind gives another picture"
}

cat >spec.json <<EOF
{"sweep": "plots", "traces": ["$build"], "policies": ["classic", "mglru", "opt"],
 "axes": {"memory": "8000p..20000p+4000p"}, "set": {"swap": "null", "disk": "null"}}
EOF
"$reclaimsim" sweep spec.json -o sweep --quiet 2>/dev/null || fail "sweep"
picture curve sweep --counter pgpgin --lru "$build"
"$reclaimsim" sweep collect sweep -o all.jsonl
expect 0 "" "$reclaimsim" plot curve all.jsonl --counter pgpgin -o from-lines.png

"$reclaimsim" compare "$build" -p classic -p mglru -p opt -m 12000p --json -o compare.json
picture bars compare.json
"$reclaimsim" run "$build" -p mglru -m 12000p --set sample_ns=5ms --json -o run.json
picture generations run.json
"$reclaimsim" run "$samples/make-j2.trace" -p mglru -m 6000p --set swap=ssd --set disk=ssd \
	--set sample_ns=100ms --json -o stalls.json
picture series stalls.json
# Pressure is drawn, not zeros: memory stands in column 10, I/O in 12 of time, memory, rates.
awk -F'\t' 'NF { memory += $10; io += $12 } $10 > 100.01 || $12 > 100.01 { over = 1 }
	END { exit !(memory > 0 && io > 0) || over }' series/plot.dat || fail "series without pressure"
"$reclaimsim" run "$samples/make-j2.trace" -p mglru -m 6000p --set sample_ns=200ms --json -o tiers.json
picture tiers tiers.json
for threads in 1 2 4 8; do
	sed -E "s/(\"threads\": )[0-9]+/\1$threads/; s/(\"rounds\": )[0-9]+/\150/" \
		"$samples/launch-threads.json" >threads.json
	for policy in classic mglru; do
		"$reclaimsim" run threads.json -p $policy --set cpus=4 -m 20M --json \
			-o locks.$policy.$threads.json || fail "threads"
	done
done
picture locks locks.*.json
for threads in 1 2 4 8 16 32 64; do
	echo "{\"generator\": \"launch-threads\", \"threads\": $threads, \"rounds\": 20}" >threads.json
	for lock in off 6.10; do
		"$reclaimsim" run threads.json -p mglru --set cpus=$threads --set mm.per_vma_lock=$lock \
			--json -o vma.$lock.$threads.json || fail "threads"
	done
done
picture throughput vma.*.json --by mm.per_vma_lock
expect 2 "the results have no such setting" "$reclaimsim" plot throughput vma.*.json --by mm.lock -o a.png
picture heatmap "$build"

expect 0 "mglru" "$reclaimsim" plot bars compare.json -o /dev/stdout --terminal dumb
expect 2 'did you mean "heatmap"?' "$reclaimsim" plot heatmp "$build" -o a.png
expect 2 "ends in .png" "$reclaimsim" plot heatmap "$build" -o a.webp
expect 2 "neither a result nor a comparison" "$reclaimsim" plot bars spec.json -o a.png
expect 2 "fewer than two points in time" "$reclaimsim" plot series locks.classic.1.json -o a.png
"$reclaimsim" run "$build" -p classic -m 12000p --json -o run.json
expect 2 "no tiers" "$reclaimsim" plot tiers run.json -o a.png
expect 2 "no generations" "$reclaimsim" plot generations run.json -o a.png
expect 2 "gnuplot-nox" env PATH=/nonexistent "$reclaimsim" plot bars compare.json -o a.png
finish
