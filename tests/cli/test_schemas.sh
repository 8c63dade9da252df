#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every schema is one, the shipped examples and what the program prints are valid against it.
. "$(dirname "$0")/lib.sh"
schemas=$source_dir/tools/schemas
examples=$source_dir/tools/suites

run="timeout 60 $reclaimsim"
$run run small.trace -p mglru -m 100p --json -o result.json || fail "run"
$run run small.trace -p opt -m 100p --json -o opt.json || fail "run opt"
$run compare small.trace -p classic -p mglru -m 100p --json -o compare.json || fail "compare"
$run run --show-config >config.json || fail "--show-config"
$run run small.trace -p classic --machine "$examples/server.json" >/dev/null || fail "server.json"
$run sweep plan "$examples/sweep.json" -o sweep | grep -q 'cells            36' || fail "sweep.json"

/usr/bin/python3 - "$schemas" "$examples" <<'EOF' || fail "see above"
import json, sys, jsonschema
schemas, examples = sys.argv[1:]
load = lambda path: json.load(open(path))
pairs = [("machine", examples + "/server.json"), ("machine", "config.json"),
         ("suite", examples + "/reclaim.json"), ("sweep", examples + "/sweep.json"),
         ("result", "result.json"), ("result", "opt.json"), ("compare", "compare.json")]
for name, path in pairs:
    schema = load(f"{schemas}/{name}.schema.json")
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(load(path))
# A schema that takes anything would pass all of that.
for name, bad in [("suite", {"suite": "s"}), ("sweep", {"sweep": "s", "traces": []}),
                  ("machine", {"swap": []}), ("result", {"schema": "x"})]:
    assert not jsonschema.Draft7Validator(load(f"{schemas}/{name}.schema.json")).is_valid(bad), name
EOF
finish
