#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check by the symbols of object files that each layer uses only lower ones.

base <- doc <- kube <- engine <- catalog; lint and webhook are above these and do
not use each other; certs and cli use only base. A rule uses no other rule. No two
folders use each other, and no two files of lint/run.
Generated objects are not checked: they connect the programs with all rules, and the
table of kinds with the operators.

A function of rules/kube that only one rule uses belongs in the rule's file, if that
then has at most 300 lines. LEFT such functions may be elsewhere: they read the
tables or the operators that only rules/kube knows, or are too long to move.

usage: symbols.py BUILD [circles]   circles: also print which files use each
                                    other in a circle, and these functions
"""
import pathlib
import re
import subprocess
import sys

RULES = ["rules/base", "rules/doc", "rules/kube", "rules/cel", "rules/engine"]
PROGRAM = RULES + ["rules/cli"]
# layer: the other layers that it may use
MAY_USE = {
    "rules/base": [],
    "rules/cli": RULES[:1],
    "rules/doc": RULES[:1],
    "rules/kube": RULES[:2],
    "rules/cel": RULES[:3],
    "rules/engine": RULES[:4],
    "rules/catalog": RULES,
    "lint": PROGRAM,
    "certs": RULES[:1],
    "webhook": PROGRAM + ["certs"],
}
LEFT = 10


def layer(source):
    return next((name for name in MAY_USE if source.startswith(name + "/")),
                None)


def objects(build):
    """Yield (source, object) of all objects compiled from the current tree."""
    for top in ("rules", "lint", "certs", "webhook"):
        for path in sorted((build / top).rglob("*.o")):
            source = path.relative_to(build).with_suffix(".c")
            if source.exists():
                yield str(source), path


def symbols(paths):
    """Return {path: (defined, used)} of the object files."""
    out = subprocess.run(["nm", "-A", *paths], capture_output=True, text=True,
                         check=True).stdout
    found = {str(path): (set(), set()) for path in paths}
    for line in out.splitlines():
        path, entry = line.split(":", 1)
        kind, name = entry.split()[-2:]
        if kind in "TDRBCU":
            found[path][kind == "U"].add(name)
    return found


def ties(uses):
    """Yield the pairs of folders, or of files of lint/run, that use each other,
    with an example for each direction."""
    folders = {}
    for source, owner, name in uses:
        pair = (str(pathlib.Path(source).parent),
                str(pathlib.Path(owner).parent))
        if pair == ("lint/run", "lint/run"):
            pair = (source, owner)
        if pair[0] != pair[1]:
            folders.setdefault(pair, f"{source} uses {name} of {owner}")
    for (one, other), text in folders.items():
        if one < other and (other, one) in folders:
            yield f"{one} and {other}: {text}; {folders[other, one]}"


def circles(uses):
    """Return the sets of files that can all reach each other."""
    reach = {}
    for source, owner, _ in uses:
        reach.setdefault(source, set()).add(owner)
    changed = True
    while changed:
        changed = False
        for source, seen in reach.items():
            more = set().union(*(reach.get(f, set()) for f in seen)) - seen
            changed |= bool(more)
            seen |= more
    found = {frozenset(f for f in seen if source in reach.get(f, ()))
             for source, seen in reach.items() if source in seen}
    return sorted(map(sorted, found), key=len)


def of_one_rule(uses):
    """Yield (rule, file, name) of each function of rules/kube that one rule
    alone uses, and that no other code in its own file uses."""
    users = {}
    for source, owner, name in uses:
        users.setdefault((owner, name), set()).add(source)
    for (owner, name), sources in sorted(users.items()):
        rule = min(sources)
        if len(sources) > 1 or not rule.startswith("rules/catalog/") or \
                not owner.startswith("rules/kube/"):
            continue
        code = re.sub(r"/\*.*?\*/", "", pathlib.Path(owner).read_text(),
                      flags=re.DOTALL)
        # A type may have the same name.
        if len(re.findall(rf"(?<!enum )(?<!struct )\b{name}\b", code)) == 1:
            yield rule, owner, name


def main():
    paths = dict(objects(pathlib.Path(sys.argv[1])))
    found = symbols(paths.values())
    read = {source: found[str(path)] for source, path in paths.items()}
    owners = {}
    for source, (defined, _) in read.items():
        for name in defined:
            owners.setdefault(name, []).append(source)
    wrong, uses = 0, []
    for source, (_, used) in sorted(read.items()):
        mine = layer(source)
        for name in sorted(used & owners.keys()):
            # Some names are defined in both programs.
            owner = next((o for o in owners[name] if layer(o) == mine),
                         owners[name][0])
            theirs = layer(owner)
            if owner != source:
                uses.append((source, owner, name))
            if theirs in MAY_USE[mine] or theirs == mine != "rules/catalog":
                continue
            wrong += 1
            print(f"{source} uses {name} of {owner}", file=sys.stderr)
    for text in ties(uses):
        wrong += 1
        print(f"two ways: {text}", file=sys.stderr)
    single = list(of_one_rule(uses))
    if len(single) > LEFT:
        wrong += 1
        for rule, owner, name in single:
            print(f"{owner}: {name} serves {rule} alone", file=sys.stderr)
        print(f"{len(single)} functions serve one rule (at most {LEFT})",
              file=sys.stderr)
    # Without objects in the build folder, the check would find nothing.
    wrong += len(read) < 100
    rings = circles(uses)
    if sys.argv[2:] == ["circles"]:
        for ring in rings:
            print(len(ring), *ring)
        for rule, owner, name in single:
            print(owner, name, rule)
    print(f"symbols: {len(uses)} uses between {len(read)} objects, "
          f"circles of files: {' '.join(str(len(r)) for r in rings)}, "
          f"{len(single)} functions of rules/kube for one rule")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
