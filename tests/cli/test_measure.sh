#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Costs measured on the host: positive, said to be measured, accepted by --machine, and they count.
. "$(dirname "$0")/lib.sh"

"$reclaimsim" measure --repeats 2 -o host.json 2>err || fail "measure: $(cat err)"
/usr/bin/python3 - <<'EOF' || fail "host.json: $(cat host.json)"
import json
f = json.load(open("host.json"))
values = f["comment"]["values"]
settings = [k for k in f if k != "comment"]
assert sorted(settings) == sorted(values), settings
for need in ("cost.pte_scan", "cost.pte_young", "cost.list_move", "cost.fault_minor_anon",
             "cost.zap_page", "cost.read_page", "zram.zstd.compress_ns",
             "zram.zstd.decompress_ns"):
    assert isinstance(f[need], int) and f[need] >= 1, need
for v in values.values():
    assert v["class"] == "measured" and v["repeats"] == 2
    assert 0 <= float(v["min_ns"]) <= float(v["median_ns"])
assert 1 <= f["comment"]["compressed_bytes_of_a_page"]["zstd"] <= 4096
# A fault takes longer than a step of a scan, whatever the host.
assert f["cost.fault_minor_anon"] > f["cost.pte_scan"]
EOF

trace=$source_dir/traces/samples/make-j2.trace
set -- "$trace" -p classic -m 8000p -s swap=zram -s zram.algorithm=zstd --json
"$reclaimsim" run "$@" -o default.json || fail "run"
"$reclaimsim" run "$@" --machine host.json -o measured.json || fail "run with host.json"
/usr/bin/python3 - <<'EOF' || fail "measured costs do not count"
import json
host = json.load(open("host.json"))
a, b = (json.load(open(n)) for n in ("default.json", "measured.json"))
for name in ("cost.fault_minor_anon", "cost.pte_young", "zram.zstd.compress_ns"):
    assert b["settings"][name] == host[name], name
c = b["cost"]["by_activity"]["compress"]
assert c["calls"] > 0 and c["ns"] == c["calls"] * host["zram.zstd.compress_ns"], c
assert a["time"]["elapsed_ns"] != b["time"]["elapsed_ns"]
EOF

expect_line 2 "1 to 99" "$reclaimsim" measure --repeats 0
expect_line 2 "1 to 99" "$reclaimsim" measure --repeats 100
expect_line 2 "/nonexistent" "$reclaimsim" measure --data /nonexistent
expect_line 2 "options only" "$reclaimsim" measure file
finish
