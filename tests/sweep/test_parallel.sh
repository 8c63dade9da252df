#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same cells through GNU parallel give the same bytes.
. "$(dirname "$0")/lib.sh"
command -v parallel >/dev/null || exit 77

expect 0 "$cells of $cells" "$reclaimsim" sweep spec.json -o one
expect 0 "seq 0 " "$reclaimsim" sweep submit one --executor parallel --dry-run
expect 0 "$cells of $cells cells done" "$reclaimsim" sweep spec.json -o two --executor parallel -j 2 \
	--chunks 7 -- --retries 2
same one two
grep -qF -- "'--retries' '2'" two/job.sh || fail "engine options are lost: $(cat two/job.sh)"
[ "$(wc -l <two/joblog)" = 8 ] || fail "joblog has $(wc -l <two/joblog) lines"
finish
