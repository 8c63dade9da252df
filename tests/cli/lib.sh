# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - for tests that call the program as users do. $1 of the test is the program, $2 the source.
set -u
reclaimsim=$1
export RECLAIMSIM_CONFIG= # not that of whoever runs the tests
source_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# expect CODE TEXT COMMAND...: exit code, and a text in what it says (either stream).
expect()
{
	local code=$1 text=$2 said got
	shift 2
	said=$(timeout 60 "$@" 2>&1)
	got=$?
	[ $got = "$code" ] || fail "exit $got, not $code: $* ($said)"
	case $said in
	*"$text"*) ;;
	*) fail "\"$*\" says \"$said\", not \"$text\"" ;;
	esac
}

# expect_line: as expect, and standard error is one line, standard output empty.
expect_line()
{
	local code=$1 text=$2 out got
	shift 2
	out=$(timeout 60 "$@" 2>err)
	got=$?
	[ $got = "$code" ] || fail "exit $got, not $code: $* ($(cat err))"
	[ -z "$out" ] || fail "\"$*\" prints \"$out\" beside the error"
	[ "$(wc -l <err)" = 1 ] || fail "\"$*\" says more than one line: $(cat err)"
	grep -qF -- "$text" err || fail "\"$*\" says \"$(cat err)\", not \"$text\""
}

finish()
{
	[ $failures = 0 ] && echo "fine"
	exit $((failures != 0))
}

# A small trace: 200 anonymous pages, stored twice, with a mark between.
cat >small.trace <<EOF
region heap anon 200
$(seq -f 's heap %g' 0 199)
m half
$(seq -f 's heap %g' 0 199)
EOF
