#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that no rule asks for an object's kind to find a field of its pods.

Rules read the pod as its operator makes it (rules/kube/README.md). A rule file may
compare an object's kind only for a field of the kind itself, or for the behavior of its
controller: compared_kinds.txt lists these files, each with the reason. The check fails
for a file that is not listed, and for a line whose file compares no kind.

usage: compared_kinds.py [-v]   -v: also print the comparisons
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/meta/compared_kinds.txt"
CATALOG = ROOT / "rules/catalog"
COMPARES = re.compile(
    r"object_is\(|"
    r"\b(?:strn?cmp|text_\w+)\(\s*[\w.>-]*\bkind\b")


def compared():
    """Return {file: lines that compare a kind}."""
    found = {}
    for path in sorted(CATALOG.rglob("*.c")):
        text = path.read_text()
        lines = [text.count("\n", 0, m.start()) + 1
                 for m in COMPARES.finditer(text)]
        if lines:
            found[str(path.relative_to(CATALOG))] = lines
    return found


def reasons():
    listed = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            listed[name] = reason.strip()
    return listed


def main():
    found, listed = compared(), reasons()
    wrong = 0
    for name in sorted(found.keys() | listed.keys()):
        if name not in listed:
            wrong += 1
            print("FAILED %s:%d compares a kind: read the pod's field, or add "
                  "the reason to tests/meta/compared_kinds.txt" %
                  (name, found[name][0]))
        elif name not in found:
            wrong += 1
            print("FAILED %s compares no kind: remove its line" % name)
        elif len(listed[name].split()) < 3:
            wrong += 1
            print("FAILED %s: no reason" % name)
        elif "-v" in sys.argv:
            print(name, *found[name])
    if not found:
        wrong += 1
        print("FAILED: no file compares a kind")
    files = len(list(CATALOG.rglob("*.c")))
    print("kinds: %d of %d rule files compare a kind, each for a reason" %
          (len(found), files))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
