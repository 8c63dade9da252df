#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare --report: one page that needs nothing else, and that a browser can show.
. "$(dirname "$0")/lib.sh"

timeout 60 "$reclaimsim" compare small.trace -p classic -p mglru -p opt -m 100p --report page >/dev/null ||
	fail "compare --report: exit $?"
[ "$(ls page)" = index.html ] || fail "the page is not alone: $(ls page)"
grep -q '<td>pgmajfault</td>' page/index.html || fail "no table"
grep -q 'Generations of mglru' page/index.html || fail "no picture of the generations"
grep -q '<td>memory.max</td>' page/index.html || fail "no settings"
if grep -oE '(src|href)="[^d"][^"]*' page/index.html; then
	fail "the page loads something"
fi
/usr/bin/python3 - <<'EOF' || fail "the page is not well formed"
import base64, re, xml.dom.minidom
page = open("page/index.html").read()
pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
assert len(pictures) >= 3, len(pictures)
for picture in pictures:
    xml.dom.minidom.parseString(base64.b64decode(picture))
EOF
if command -v chromium >/dev/null; then
	timeout 60 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=2000 \
		--dump-dom "file://$work/page/index.html" >dom.html 2>/dev/null || fail "chromium: exit $?"
	grep -q 'pgmajfault' dom.html || fail "chromium shows no table"
fi
expect 2 "cannot make /dev/null/x" "$reclaimsim" compare small.trace -p classic -p mglru -m 100p \
	--report /dev/null/x
finish
