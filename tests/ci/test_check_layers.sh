#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check-layers must find each kind of breach in a small tree of its own.
set -eu
check=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{include/reclaimsim,sim/base,sim/mm,sim/engine,sim/scenario,sim/report,traces,policies,tools,tests}
spdx='/* SPDX-License-Identifier: GPL-2.0-or-later */'

# expect TEXT: check-layers fails and says TEXT.
expect()
{
	if out=$("$check" "$dir" 2>&1); then
		echo "accepted, but should say: $1"
		exit 1
	fi
	case $out in
	*"$1"*) ;;
	*)
		echo "says \"$out\", not: $1"
		exit 1
		;;
	esac
}

"$check" "$dir" >/dev/null || { echo "refuses an empty tree"; exit 1; }

printf '%s\n#include "sim/engine/engine.h"\n' "$spdx" >"$dir/sim/mm/a.c"
expect "sim/mm/a.c:2: sim/mm may not include sim/engine/engine.h"
rm "$dir/sim/mm/a.c"

printf '%s\n#include <sim/mm/machine.h>\n' "$spdx" >"$dir/policies/a.c"
expect "policies/a.c:2: policies may not include sim/mm/machine.h"
rm "$dir/policies/a.c"

printf '%s\nint f(void) { return printf("x"); }\n' "$spdx" >"$dir/sim/mm/a.c"
expect "only tools/ prints or exits"
rm "$dir/sim/mm/a.c"

printf 'int x;\n' >"$dir/sim/mm/a.c"
expect "sim/mm/a.c: no SPDX-License-Identifier"
echo fine
