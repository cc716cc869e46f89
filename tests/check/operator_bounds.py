# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with a real API server on values that violate a constraint of
an operator's definition, and on values exactly at its bounds.

usage: operator_bounds.py GPUGATE PLANE CORPUS WORK SEED [DEFINITIONS]

Each object has one field of custom_types.tsv and the fields above it. The
server must name the field in its answer if gpugate reports it, unless the
message names the releases that reject it, and no field may be reported twice. A
field that the server's definition lacks is skipped. SILENT=1 prints the other
rejected values: other releases accept them, or a webhook may omit them.
DEFINITIONS is a folder with more CustomResourceDefinitions than the server has."""
import collections
import os
import pathlib
import random
import re
import sys

import yaml

import plane

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "oracle"))
import custom_types  # noqa: E402 pylint: disable=wrong-import-position

TABLE = TESTS.parent / "rules/kube/data/custom_types.tsv"
LEAST, OTHERS = 1000, 6
RULES = ("field-type-invalid", "field-value-invalid")
INT64 = 2**63 - 1
TEXTS = (
    "", "a", "A", "a-b", "a_b", "a.b", "-a", "a-", "1a", "a..b", "a/b", "/a",
    "/ab/c", "a:b", "a b", "\n", "a\n", "ä", "1", "-1", "1.5", "1Gi", "1GiB",
    "500m", "1e3", "50%", "100%", "101%", "1h", "1h30m", "90", "Never", "0",
    "1h0m0s", "@daily", "@often", "0 3 * * *", "0 3 *", "23:59", "24:00",
    "http://a", "https://a.b/v1", "https://a.b/v1/", "ftp://a", "ami-1", "ami",
    "sg-0a", "subnet-1", "cr-1", "123456789012", "hf://a", "s3://a", "pvc://a",
    "hostpath://a", "example.com/a", "example.com/v1", "*.example.com", "*",
    "GET", "a" * 63, "a" * 64, "a" * 253, "a" * 254,
    "2026-01-31T00:00:00Z", "2026-02-29T00:00:00Z", "2024-02-29t23:59:59.1+02:00",
    "2026-01-31T24:00:00Z", "2026-01-31", "2026-01-31T00:00:60Z", "tomorrow")


def constraints():
    """Return {(type, field): [(constraint, argument)]}."""
    found = collections.defaultdict(list)
    with open(TABLE, encoding="utf-8") as file:
        for row in file:
            cells = row.rstrip("\n").split("\t")
            if cells[0] == "!":
                found[cells[1], cells[2]].append(tuple(cells[3:]))
    return found


def places(types, name, at=()):
    """Yield (type, field, form, keys) of each field below a type."""
    for key, form in types[name].items():
        many, base, _, _ = custom_types.parse_form(form)
        yield name, key, many + base[0], at + (key,)
        inner = at + (key,) + {"[": (0,), "{": ("k",)}.get(many, ())
        if base[0] == "T" and base[1:] in types:
            yield from places(types, base[1:], inner)


def sizes(argument):
    """Yield the numbers at and beyond the bounds of "1 63"."""
    for text, beyond in zip(argument.split(), (-1, 1)):
        if text != "-":
            yield from (int(text), int(text) + beyond)


def numbered(size):
    return {f"k{i}": f"v{i}" for i in range(size)}


def values(rows, form, rng):
    """Yield values for a field of this form with these constraints."""
    for name, argument, *_ in rows:
        if name == "range":
            yield from (n for n in sizes(argument) if -INT64 <= n <= INT64)
        elif name == "length":
            yield from ("a" * n for n in sizes(argument) if 0 <= n < 5000)
            yield from ("ä" * n for n in sizes(argument) if 0 < n < 5000)
        elif name == "items":
            yield from ([f"a{i}" if form[1] != "T" else {} for i in range(n)]
                        for n in sizes(argument) if 0 <= n < 2000)
        elif name == "keys":
            yield from (numbered(n) for n in sizes(argument) if n >= 0)
        else:
            yield from TEXTS[:5]
            yield from rng.sample(TEXTS, OTHERS)


def built(version, kind, keys, value):
    """Return an object with this value at the keys."""
    for key in reversed(keys):
        value = [value] if isinstance(key, int) else {key: value}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"},
            **value}


def cases(rng):
    """Yield (keys of the value, object)."""
    types, kinds, _ = custom_types.read_table(TABLE)
    of = constraints()
    for (version, kind), name in kinds.items():
        for owner, key, form, keys in places(types, name):
            inner = {"[": (0,), "{": ("k",)}.get(form[0], None)
            for suffix, at in (("", ()), ("[]", inner or (0,))):
                rows = of.get((owner, key + suffix), ())
                for value in values(rows, form + "x", rng):
                    yield keys + at, built(version, kind, keys + at, value)


def named(answer):
    """Return the fields that the server's answer names, without indexes."""
    fields = set()
    for cause in answer.get("details", {}).get("causes", []):
        text = cause.get("message", "")
        # The field of a number that does not fit is in the text alone.
        inside = re.search(r" with format \w+ in (\S+)$", text)
        if not text.startswith("Required"):
            fields.add(re.sub(r"\[.*?\]|\.k(?=\.|$)", "", inside[1]
                              if inside else cause.get("field", "")))
    return fields


def has_field(schema, keys):
    """True if the schema has the field."""
    for key in keys:
        if schema is None:
            return False
        if isinstance(key, int):
            schema = schema.get("items")
        elif "properties" in schema:
            schema = schema["properties"].get(key)
        else:
            schema = schema.get("additionalProperties")
    return isinstance(schema, dict)


def served(server, folder):
    """Return {(apiVersion, kind): schema} of the server's definitions; add
    those of the folder."""
    for path in sorted(pathlib.Path(folder).rglob("*.yaml")) if folder else ():
        for one in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            server.define(one)
    _, answer, _ = server.request(
        "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    return {(f"{one['spec']['group']}/{version['name']}",
             one["spec"]["names"]["kind"]):
            version["schema"]["openAPIV3Schema"]
            for one in answer["items"] for version in one["spec"]["versions"]
            if version["served"]}


def main(gpugate, folder, _, work, seed, definitions=None):
    rng, server = random.Random(int(seed)), plane.Plane(folder)
    known = served(server, definitions)
    lint = plane.Lint(gpugate, os.path.join(work, "bounds"))
    asked = []
    for number, (keys, one) in enumerate(cases(rng)):
        at = one["apiVersion"], one["kind"]
        if at in known and has_field(known[at], keys):
            asked.append((str(number), keys, one))
            lint.write(str(number), one)
    ours = lint.findings()
    answers = plane.each(lambda a: server.create(a[2]), asked)
    reported = failed = silent = newer = 0
    for (name, keys, one), (status, answer, _) in zip(asked, answers):
        path = "/" + "/".join(map(str, keys))
        said = [f for f in ours.get(name, []) if f["path"] == path and
                f["rule"] in RULES]
        field = ".".join(k for k in keys if k != 0 and k != "k")
        rejected = status != 201 and field in named(answer)
        reported += bool(said)
        silent += rejected and not said
        if said and not rejected and said[0]["message"].endswith(" and later"):
            newer += 1
        elif len(said) > 1 or said and not rejected:
            failed += 1
            print(f"FAIL {one['apiVersion']} {one['kind']} {path} in {name}: "
                  f"gpugate {[(f['rule'], f['message']) for f in said]}, "
                  f"server {status} {answer.get('message', '')[:300]}")
        elif rejected and not said and os.environ.get("SILENT"):
            print(f"silent {one['apiVersion']} {one['kind']} {path}: "
                  f"{answer.get('message', '')[:300]}")
    print(f"operators' bounds: {len(asked)} objects, {reported} reported, "
          f"{silent} rejected and not reported, {newer} rejected by releases "
          "that are newer than the server's definitions: "
          f"{len(asked) - failed} passed, {failed} failed")
    return failed or reported < LEAST


sys.exit(bool(main(*sys.argv[1:])))
