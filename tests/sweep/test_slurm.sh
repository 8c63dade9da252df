#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same cells through a real Slurm on the loopback address: same bytes, although slurmd of one
# node is killed half way.
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v slurmctld >/dev/null && command -v munged >/dev/null || exit 77
local_slurm=$source_dir/tests/sweep/slurm/slurm-local.sh

dir=$(mktemp -d /tmp/rsslurm.XXXXXX)
env=$("$local_slurm" start "$dir" 2 4) || { echo "Slurm does not start"; exit 1; }
eval "$env"
trap '"$local_slurm" stop "$dir" >/dev/null 2>&1; rm -rf "$dir" "$work"' EXIT

expect 0 "$cells of $cells" "$reclaimsim" sweep spec.json -o one
expect 0 "#SBATCH --array=0-" "$reclaimsim" sweep submit one --executor slurm --dry-run

# --- a whole sweep ---
expect 0 "$cells of $cells cells done" "$reclaimsim" sweep spec.json -o two --executor slurm \
	--chunks 12 -- --time=10
same one two

# --- a node dies half way ---
"$reclaimsim" sweep plan spec.json -o three >/dev/null || fail "plan"
"$reclaimsim" sweep submit three --executor slurm --chunks 60 --quiet >status.out 2>&1 &
pid=$!
for i in $(seq 300); do
	[ "$(find three/results -name '*.json' 2>/dev/null | wc -l)" -ge 20 ] && break
	sleep 0.1
done
"$local_slurm" kill-node "$dir" n2
scontrol update NodeName=n2 State=DOWN Reason=test
wait $pid || fail "submit: exit $? ($(cat status.out))"
find three -name '*.tmp.*' -delete # of the killed writers
same one three

# --- without a controller: one line, exit 3 ---
"$local_slurm" stop "$dir" >/dev/null 2>&1
expect 3 "sbatch failed" "$reclaimsim" sweep spec.json -o four --executor slurm --chunks 2
finish
