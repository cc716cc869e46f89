#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that examples of `gpugate explain` are flagged at the marked lines.

Each example is linted alone, with the policy and the snapshot of its folder.

usage: rule_examples.py GPUGATE FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def output(*args):
    return subprocess.run(args, check=True, capture_output=True,
                          text=True).stdout


def settings(folder, kind):
    """Yield the options that tests/run-rules.sh gives for KIND.yaml."""
    def one(name):
        found = [path for path in (folder / f"{kind}.{name}", folder / name)
                 if path.exists()]
        return str(found[0]) if found else None

    policy, cluster = one("policy.yaml"), one("cluster.json")
    yield from ("--config", policy) if policy else ("--isolated",)
    with open(folder / f"{kind}.yaml") as f:
        if cluster and f.readline() != "# no cluster\n":
            yield from ("--cluster", cluster)
    if (folder / "admission.yaml").exists():
        yield from ("-q", "--admission-policy", str(folder / "admission.yaml"))


def lines(gpugate, rule, folder, kind, text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        said = output(gpugate, "lint", "--preset", "all", "--format",
                      "concise", "--fail-on", "never", "--no-ignore-vcs",
                      *settings(folder, kind), f.name)
    return sorted({int(n) for n in re.findall(
        rf":(\d+):\d+: .*\[{rule}\]$", said, re.M)})


def main(gpugate, folder):
    passed = failed = 0
    for rule in json.loads(output(gpugate, "rules", "--format",
                                  "json"))["rules"]:
        name = rule["name"]
        shown = json.loads(output(gpugate, "explain", "--format", "json",
                                  name))
        bad, good = shown["flagged"], shown["notFlagged"]
        want = [number for number, line in enumerate(bad.split("\n"), 1)
                if "# flagged" in line]
        here = pathlib.Path(folder, name)
        got = lines(gpugate, name, here, "bad", bad)
        near = lines(gpugate, name, here, "good", good)
        if want and want == got and good and not near:
            passed += 1
        else:
            failed += 1
            print(f"{name}: shows {want}, reports {got}; of the other "
                  f"example {near}", file=sys.stderr)
    print(f"rule examples: {passed} passed, {failed} failed")
    return failed != 0


sys.exit(main(*sys.argv[1:]))
