#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fidelity-table finds differences in comments of every form, and --check finds an old table.
set -eu
table=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{sim/mm,sim/engine,policies}
printf 'Before.\n%s\n%s\nBehind.\n' \
	"<!-- differences: begin, written by tools/ci/fidelity-table -->" "<!-- differences: end -->" >"$dir/README.md"

expect()
{
	grep -qxF -- "$1" "$dir/README.md" || { echo "no row: $1"; cat "$dir/README.md"; exit 1; }
}

cat >"$dir/sim/mm/a.c" <<'END'
/* One line. Kernel: mm/a.c f(), g(). Differs: no locks. */
/*
 * A head. Kernel: mm/b.c h(). Differs: this goes on
 * in the next line.
 *
 * This paragraph is about something else.
 */
/* Of no function. Differs: never asked. */
int differs;
END
"$table" "$dir"
expect "| \`sim/mm/a.c\` | \`mm/a.c f() g()\` | no locks. |"
expect "| \`sim/mm/a.c\` | \`mm/b.c h()\` | this goes on in the next line. |"
expect "| \`sim/mm/a.c\` |  | never asked. |"
expect Before.
expect Behind.
[ "$(grep -c '^| `' "$dir/README.md")" = 3 ] || { echo "other rows, too"; cat "$dir/README.md"; exit 1; }

"$table" --check "$dir" || { echo "a new table is refused"; exit 1; }
echo '/* Differs: one more. */' >"$dir/policies/p.c"
if "$table" --check "$dir" 2>"$dir/said"; then
	echo "an old table is accepted"
	exit 1
fi
grep -q "renew it with tools/ci/fidelity-table" "$dir/said"
echo fine
