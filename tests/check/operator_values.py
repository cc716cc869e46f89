# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with a real API server on operators' kinds that lack a field or
have a word that an enumeration does not list, outside of pods.

usage: operator_values.py GPUGATE PLANE CORPUS WORK SEED

In objects that the server accepts, one field is removed, or one text replaced.
The server must reject each object that field-missing or field-value-invalid
reports, unless it drops the field: only other releases of the operator have
it."""
import copy
import os
import random
import sys

import corpus_server
import plane

KIND, PLACES, LEAST = 25, 40, 100
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../rules/kube/data/custom_types.tsv")
# Parts of pods, which other tests compare.
PODS = {"affinity", "env", "resources", "securityContext", "tolerations",
        "volumes"}
TEXTS = ("which is required", "is not a valid value of")


def kinds():
    """Yield (apiVersion, kind) of the kinds whose definitions all list their
    fields."""
    with open(TABLE, encoding="utf-8") as file:
        for row in file:
            cells = row.rstrip("\n").split("\t")
            if cells[0] == "@" and len(cells) == 5:
                yield f"{cells[1]}/{cells[2]}", cells[3]


def places(node, at=()):
    """Yield the keys that lead to each value outside of pods."""
    if isinstance(node, dict) and "containers" in node:
        return
    for key, child in node.items() if isinstance(node, dict) else \
            enumerate(node) if isinstance(node, list) else ():
        if not at and key in ("apiVersion", "kind", "metadata", "status") or \
                key in PODS:
            continue
        yield at + (key,), child
        yield from places(child, at + (key,))


def changed(one, place, value):
    """Return the object with another text, or without the field."""
    one = copy.deepcopy(one)
    node = one
    for key in place[:-1]:
        node = node[key]
    if value is None:
        del node[place[-1]]
    else:
        node[place[-1]] = value
    return one


def keeps(answer, place):
    """Return true if the server has a value at this place."""
    for key in place:
        try:
            answer = answer[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def objects(server, corpus):
    known, seen = set(kinds()), {}
    for one in corpus_server.documents(corpus):
        kind = one["apiVersion"], one["kind"]
        if kind in known and server.resource(one) and \
                seen.setdefault(kind, 0) < KIND and \
                not corpus_server.PLACEHOLDER.search(repr(one)):
            seen[kind] += 1
            yield one


def main(gpugate, folder, corpus, work, seed):
    rng, server = random.Random(int(seed)), plane.Plane(folder)
    lint = plane.Lint(gpugate, os.path.join(work, "values"))
    all_objects = list(objects(server, corpus))
    server.namespaces(all_objects)
    asked = []
    for number, one in enumerate(all_objects):
        if server.create(one)[0] != 201:
            continue
        found = list(places(one))
        for place, child in rng.sample(found, min(PLACES, len(found))):
            value = "Xyzzy" if isinstance(child, str) and rng.random() < .5 \
                else None
            name = f"{number}-{len(asked)}"
            asked.append((name, place, value, changed(one, place, value)))
            lint.write(name, asked[-1][3])
    ours = lint.findings("--select", "field-missing,field-value-invalid")
    answers = plane.each(lambda a: server.create(a[3]), asked)
    reported = failed = 0
    for (name, place, value, one), (status, answer, _) in zip(asked, answers):
        said = [f["message"] for f in ours.get(name, [])
                if any(text in f["message"] for text in TEXTS)]
        reported += bool(said)
        if said and status == 201 and keeps(
                answer, place[:-1] if value is None else place):
            failed += 1
            print(f"FAIL {one['kind']} {'.'.join(map(str, place))} = "
                  f"{value!r}: gpugate {said}, server {status}")
    print(f"operators' values: {len(asked)} objects, {reported} reported: "
          f"{len(asked) - failed} passed, {failed} failed")
    return failed or reported < LEAST


sys.exit(bool(main(*sys.argv[1:])))
