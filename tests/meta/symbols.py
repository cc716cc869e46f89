#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers, by what objects use of each other, whatever they include.

base <- doc <- kube <- engine <- catalog; lint and webhook on top, apart; certs
on base alone. A rule uses no other rule. Generated objects are left out: the
list of rules is handed to the engine by the programs.

usage: symbols.py BUILD
"""
import pathlib
import subprocess
import sys

RULES = ["rules/base", "rules/doc", "rules/kube", "rules/engine"]
# layer: the layers that it may use besides itself
MAY_USE = {
    "rules/base": [],
    "rules/doc": RULES[:1],
    "rules/kube": RULES[:2],
    "rules/engine": RULES[:3],
    "rules/catalog": RULES,
    "lint": RULES,
    "certs": RULES[:1],
    "webhook": RULES + ["certs"],
}


def layer(source):
    return next((name for name in MAY_USE if source.startswith(name + "/")),
                None)


def objects(build):
    """(source, object) of what was compiled from the tree as it is."""
    for top in ("rules", "lint", "certs", "webhook"):
        for path in sorted((build / top).rglob("*.o")):
            source = path.relative_to(build).with_suffix(".c")
            if source.exists():
                yield str(source), path


def symbols(path):
    """(defined, used) by an object."""
    out = subprocess.run(["nm", path], capture_output=True, text=True,
                         check=True).stdout
    words = [line.split()[-2:] for line in out.splitlines() if line.split()]
    return ({name for kind, name in words if kind in "TDRBC"},
            {name for kind, name in words if kind == "U"})


def main():
    read = {source: symbols(path)
            for source, path in objects(pathlib.Path(sys.argv[1]))}
    owners = {}
    for source, (defined, _) in read.items():
        for name in defined:
            owners.setdefault(name, []).append(source)
    wrong = uses = 0
    for source, (_, used) in sorted(read.items()):
        mine = layer(source)
        for name in sorted(used & owners.keys()):
            # The programs have names in common.
            owner = next((o for o in owners[name] if layer(o) == mine),
                         owners[name][0])
            theirs = layer(owner)
            uses += 1
            if theirs in MAY_USE[mine] or theirs == mine != "rules/catalog":
                continue
            wrong += 1
            print(f"{source} uses {name} of {owner}", file=sys.stderr)
    # A build folder without objects would pass as well.
    wrong += len(read) < 100
    print(f"symbols: {uses} uses between {len(read)} objects")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
