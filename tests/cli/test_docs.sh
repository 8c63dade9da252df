#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Man page and completion come from the tables and know what the program knows.
. "$(dirname "$0")/lib.sh"

"$reclaimsim" __man >reclaimsim.1 || fail "__man"
# groff says nothing when the page is fine; every long option of help stands in it.
if command -v groff >/dev/null; then
	groff -man -Tutf8 -ww reclaimsim.1 >page 2>err || fail "groff: $(cat err)"
	[ ! -s err ] || fail "groff warns: $(head -3 err)"
fi
for command in run compare check plot sweep list; do
	for option in $("$reclaimsim" $command --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
		[ "$option" = --help ] && continue
		tr -d '\\' <reclaimsim.1 | grep -qF -- "$option" || fail "man page lacks $option of $command"
	done
done

complete()
{
	"$reclaimsim" __complete "$@"
}
complete '' | grep -qx compare || fail "commands are not offered"
complete '' | grep -q __ && fail "hidden commands are offered"
complete run --policy '' | grep -qx mglru || fail "policies are not offered"
complete run -p '' | grep -qx opt || fail "opt is not offered"
complete run --set '' | grep -qx memory.max= || fail "settings are not offered"
complete compare -- | grep -qx -- --seeds || fail "options are not offered"
complete sweep '' | grep -qx collect || fail "steps are not offered"
complete plot '' | grep -qx heatmap || fail "kinds of plots are not offered"

# The script for bash, driven as bash drives it.
cat >drive <<EOF
source "$source_dir/tools/completion/reclaimsim.bash"
COMP_WORDS=("$reclaimsim" run --pol) COMP_CWORD=2 COMPREPLY=()
_reclaimsim
echo "\${COMPREPLY[*]}"
EOF
bash drive 2>/dev/null | grep -qx -- --policy || fail "bash completion: $(bash drive 2>&1)"
if command -v zsh >/dev/null; then
	zsh -n "$source_dir/tools/completion/_reclaimsim" || fail "zsh cannot read the completion"
fi

# README's first table is what the command prints there.
awk '/^    \$ reclaimsim compare traces\/samples\/make-j2/ { on = 1; next }
	/^    reclaimsim run/ { exit }
	on && !/^    \.\.\.$/ && NF { print substr($0, 5) }' "$source_dir/README.md" >shown
(cd "$source_dir" && timeout 60 "$reclaimsim" compare traces/samples/make-j2.trace -p classic -p mglru \
	-p opt -m 10000p) >table 2>/dev/null
[ "$(wc -l <shown)" -ge 10 ] || fail "README's table is not where it was"
while IFS= read -r line; do
	grep -qxF -- "$line" table || fail "README shows what compare does not print: $line"
done <shown
finish
