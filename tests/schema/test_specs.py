# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped specs fit the schema; specs with mistakes do not."""
import copy
import glob
import json
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

root = sys.argv[1]
with open(root + "/traces/spec.schema.json") as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
names = sorted(glob.glob(root + "/traces/samples/*.json"))
assert len(names) >= 7, names
for name in names:
    with open(name) as f:
        spec = json.load(f)
    validator.validate(spec)
    wrong = copy.deepcopy(spec)
    wrong["mistake"] = 1
    assert not validator.is_valid(wrong), name

good = {"processes": [{"regions": {"r": {"anon": "1M"}}, "phases": [{"accesses": 1, "mix": [{"region": "r"}]}]}]}
assert validator.is_valid(good)
for path, value in [(("processes", 0, "regions", "r", "anon"), "1MB"),
                    (("processes", 0, "phases", 0, "accesses"), 0),
                    (("processes", 0, "phases", 0, "mix", 0, "pattern"), "spiral"),
                    (("processes", 0, "phases", 0, "mix", 0, "write"), 2),
                    (("processes", 0, "count"), "two"),
                    (("generator",), "other")]:
    wrong = copy.deepcopy(good)
    place = wrong
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not validator.is_valid(wrong), path
print(len(names), "specs")
