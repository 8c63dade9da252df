#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# callgrind.sh [RECLAIMSIM]: instructions a hit, a minor fault, a swapped-out page and a swap-in
# cost the simulator itself, from differences between runs of constructed traces under
# valgrind --tool=callgrind. They are the same at every run of the same binary.
set -eu
program=${1:-build/release/reclaimsim}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pages=4000 hits=200000

stores() { seq -f 's a %.0f' 0 $((pages - 1)); }
loads() { seq -f 'l a %.0f' 0 $((pages - 1)); }
passes() { for ((i = 0; i < $1; i++)); do loads; done; }
trace() {
	{ echo "region a anon $pages"; cat; } >"$dir/text"
	"$program" trace convert "$dir/text" "$dir/$1" --to native >/dev/null
}
: | trace empty
stores | trace fill
{ stores; seq 0 $((hits - 1)) | awk -v n=$pages '{ print "l a " $1 * 7919 % n }'; } | trace hit
{ stores; passes 2; } | trace two
{ stores; passes 6; } | trace six

# instructions TRACE POLICY LIMIT
instructions() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" run "$dir/$1" --policy "$2" \
		--set memory.max="$3" --set swap=null --set vm.page-cluster=0 --set node0.memory=64M \
		--json 2>&1 >/dev/null | awk '/Collected/ { print $4 }'
}

echo "| policy | hit | minor fault | swapped-out page | swap-in with the page it evicts |"
echo "| :-- | --: | --: | --: | --: |"
for policy in classic mglru; do
	empty=$(instructions empty $policy 1G)
	fill=$(instructions fill $policy 1G)
	hit=$(instructions hit $policy 1G)
	tight=$(instructions fill $policy 2000p)
	two=$(instructions two $policy 2000p)
	six=$(instructions six $policy 2000p)
	echo "| $policy | $(((hit - fill) / hits)) | $(((fill - empty) / pages)) |" \
		"$(((tight - fill) / (pages - 2000))) | $(((six - two) / (4 * pages))) |"
done
