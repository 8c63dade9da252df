#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The shipped suite passes; with one tolerance tightened it does not; its reports can be read.
. "$(dirname "$0")/../cli/lib.sh"
suite=$source_dir/tools/suites/reclaim.json

expect 0 " pass" "$reclaimsim" check "$suite" --quiet --junit good.xml

# --- colour: only when asked for, or on a terminal without NO_COLOR ---
colored()
{
	"$@" | grep -q "$(printf '\033')"
}
check="$reclaimsim check $suite --quiet --only key-value"
colored $check --color=always || fail "no colour with --color=always"
if command -v script >/dev/null; then
	export TERM=xterm
	colored script -qec "$check" /dev/null || fail "no colour on a terminal"
	colored env NO_COLOR=1 script -qec "$check" /dev/null && fail "colour in spite of NO_COLOR"
fi
expect 2 "--color red: auto, always or never" $check --color=red

# --- one tolerance tightened: exit 1 ---
mkdir copy
sed -e "s,\"\.\./\.\./,\"$source_dir/,; s/+- 5%/+- 0.01%/" "$suite" >copy/suite.json
cp "$source_dir/tools/suites/reclaim.baseline.json" copy/
expect 1 "FAIL   key-value: mglru.pswpin ~ classic.pswpin +- 0.01%" "$reclaimsim" check copy/suite.json \
	--quiet --only key-value --junit bad.xml --tap bad.tap --markdown bad.md --json bad.json
/usr/bin/python3 - <<'EOF' || fail "a report cannot be read"
import json
from junitparser import JUnitXml, Failure
good, bad = JUnitXml.fromfile("good.xml"), JUnitXml.fromfile("bad.xml")
count = lambda xml: sum(1 for suite in xml for case in suite)
failed = [c.name for suite in bad for c in suite if any(isinstance(r, Failure) for r in c.result)]
assert failed == ["mglru.pswpin ~ classic.pswpin +- 0.01%"], failed
assert not [c for suite in good for c in suite if c.result]
assert count(good) > count(bad) > 5
tap = open("bad.tap").read().splitlines()
assert tap[0] == "TAP version 13" and tap[1] == "1..%d" % count(bad)
assert sum(line.startswith("not ok") for line in tap) == 1
assert "| FAIL | key-value |" in open("bad.md").read()
verdicts = json.load(open("bad.json"))["verdicts"]
assert [v["verdict"] for v in verdicts].count("fail") == 1
EOF
expect 125 "nosuch.json" "$reclaimsim" check --bisect nosuch.json

# --- baselines ---
cat >suite.json <<EOF
{"suite": "s", "baseline": "base.json", "scenarios": [
 {"name": "small", "trace": "small.trace", "set": {"memory.max": "100p"}, "policies": ["classic"],
  "metrics": {"pswpout": {"rel": 0.1, "direction": "lower"}}}]}
EOF
expect 3 "NEW    small: classic.pswpout" "$reclaimsim" check suite.json
expect 0 "1 new" "$reclaimsim" check suite.json --update
cp base.json first.json
expect 0 "1 pass" "$reclaimsim" check suite.json --update
cmp -s base.json first.json || fail "--update is not stable"
sed -E 's/("pswpout": )[0-9]+/\110/' first.json >base.json
expect 1 "expected 10 +- 10%" "$reclaimsim" check suite.json
sed -E 's/("pswpout": )[0-9]+/\1100000/' first.json >base.json
expect 0 "BETTER small: classic.pswpout" "$reclaimsim" check suite.json
expect 1 "FAIL   small: classic.pswpout" "$reclaimsim" check suite.json --strict
sed -E 's/("trace": ")..../\1beef/' first.json >base.json
expect 2 "made with another trace" "$reclaimsim" check suite.json

# --- what cannot be judged ---
cp first.json base.json
sed 's/"metrics"/"checks": ["classic.nosuch > 1", "other.pswpin > 1"], "metrics"/' suite.json >odd.json
expect 3 "classic has no nosuch" "$reclaimsim" check odd.json
expect 3 'no policy is called "other"' "$reclaimsim" check odd.json
sed 's/small.trace/nosuch.trace/' suite.json >odd.json
expect 3 "nosuch.trace" "$reclaimsim" check odd.json
expect 2 "no scenario matches" "$reclaimsim" check suite.json --only nothing
finish
