# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with a real API server on values of a wrong type.

usage: field_types.py GPUGATE PLANE CORPUS WORK SEED

In objects that the server accepts, one value is replaced by one of another
type. Prints values that gpugate reports although the server accepts them and,
for Kubernetes' own kinds, values that the server cannot decode although gpugate
does not report them."""
import copy
import os
import random
import re
import sys

import corpus_server
import plane

OBJECTS, EACH = 400, 5
VALUES = [7, 1.5, True, "text", "7", [], {}, ["a"], [7], {"a": "b"},
          {"a": 7}, [{"name": "a"}]]
TYPE = re.compile(r"cannot unmarshal|cannot be handled as|must be of type|"
                  r"unrecognized type")
RULE = "field-type-invalid"
HERE = os.path.dirname(os.path.abspath(__file__))
# The CRDs of this group have no schemas: the controllers reject objects that
# they cannot decode.
NO_SCHEMA = "argoproj.io/"


def places(node, at=()):
    """Yield the keys that lead to each value."""
    for key, child in node.items() if isinstance(node, dict) else \
            enumerate(node) if isinstance(node, list) else ():
        if at + (key,) not in (("kind",), ("apiVersion",),
                               ("metadata",), ("metadata", "name")):
            yield at + (key,)
        yield from places(child, at + (key,))


def changed(one, place, value):
    one = copy.deepcopy(one)
    node = one
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return one


def dropped(answer, place):
    """Return true if the server dropped the value, because only other releases
    of the operator have the field."""
    for key in place:
        try:
            answer = answer[key]
        except (KeyError, IndexError, TypeError):
            return True
    return False


def native_kinds():
    table = os.path.join(HERE, "../../rules/kube/data/native_types.tsv")
    with open(table, encoding="utf-8") as file:
        for row in file:
            if row.startswith("@"):
                _, group, version, kind = row.split("\t")[:4]
                yield (version if group == "-" else f"{group}/{version}"), kind


def main(gpugate, server, corpus, work, seed):
    rng, server = random.Random(int(seed)), plane.Plane(server)
    lint = plane.Lint(gpugate, os.path.join(work, "objects"))
    native = set(native_kinds())
    # Secrets are skipped, because the server also decodes the text of their
    # bytes fields.
    objects = [o for o in corpus_server.documents(corpus)
               if server.resource(o) and o["kind"] != "Secret" and
               not corpus_server.PLACEHOLDER.search(repr(o))]
    rng.shuffle(objects)
    server.namespaces(objects)
    asked = []
    for number, one in enumerate(objects[:OBJECTS]):
        if server.create(one)[0] != 201:
            continue
        found = list(places(one))
        for i in range(EACH if found else 0):
            place, value = rng.choice(found), rng.choice(VALUES)
            name = f"{number}-{i}"
            asked.append((name, place, value, changed(one, place, value)))
            lint.write(name, asked[-1][3])
    ours = lint.findings("--select", RULE + ",quantity-invalid")
    answers = plane.each(lambda a: server.create(a[3]), asked)
    passed = failed = refused = 0
    for (name, place, value, one), (status, answer, _) in zip(asked, answers):
        message = plane.line(answer.get("message", ""))
        found = ours.get(name, [])
        said = [f["message"] for f in found if f["rule"] == RULE]
        theirs = status != 201 and TYPE.search(message) and \
            "quantities must match" not in message
        refused += bool(theirs)
        if said and status == 201 and not dropped(answer, place) and \
                not one["apiVersion"].startswith(NO_SCHEMA) or \
                theirs and not found and \
                (one["apiVersion"], one["kind"]) in native:
            failed += 1
            print(f"FAIL {one['kind']} {'.'.join(map(str, place))} = "
                  f"{value!r}: gpugate {said}, server {status} {message[:300]}")
        else:
            passed += 1
    print(f"field types: {len(asked)} objects, {refused} refused: "
          f"{passed} passed, {failed} failed")
    return failed or refused < len(asked) // 5


sys.exit(bool(main(*sys.argv[1:])))
