#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the findings of a first run: lint every repository of the corpus
alone, with the default preset and without a cluster, and count its findings
per GPU object.

usage: first_run.py GPUGATE OBJECT_DUMP CORPUS

Errors and warnings per GPU object must have a median of at most 1 and a ninth
decile of at most 3. At least 40 % of the objects must have none. At most 4 % of
the files may have an error. The default reports may have at most 5,900 lines
together.
"""
import collections
import json
import os
import subprocess
import sys

MEDIAN, DECILE, CLEAN, ERRORS, LINES = 1, 3, 0.40, 0.04, 5900


def run(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=False).stdout


def manifests(folder):
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith((".yaml", ".yml", ".json")):
                yield os.path.join(path, name)


def gpu_objects(dump, files):
    """Return (file, kind, name) of objects with a pod that gets a device."""
    found, name = collections.Counter(), None
    pods = {}
    for line in run(dump, "--pods", *files).splitlines():
        if not line.startswith("\t"):
            name = line.split("\t")[0]
            pods = {}
            continue
        words = line.split()
        if words[0] == "pod" and not line.rstrip().split("by=")[1].startswith("0"):
            pods[words[1]] = True
        elif words[0] == "object" and pods.pop(words[1], False):
            kind, _, rest = words[1].partition("/")
            found[name, kind, rest] += 1
    return found


def main():
    gpugate, dump, corpus = sys.argv[1:4]
    counts, clean, objects = [], 0, 0
    files = bad = lines = 0
    rules = collections.Counter()
    for repo in sorted(os.listdir(corpus)):
        folder = os.path.join(corpus, repo)
        if not os.path.isdir(folder):
            continue
        lint = (gpugate, "lint", "--isolated", "--fail-on", "never")
        report = json.loads(run(*lint, "--format", "json", folder))
        lines += run(*lint, folder).count("\n")
        found, errors = collections.Counter(), set()
        for f in report["findings"]:
            rules[f["rule"], f["severity"]] += 1
            if f["severity"] == "error":
                errors.add(f["file"])
            if f["severity"] != "info":
                o = f["object"]
                found[f["file"], o["kind"], o["name"]] += 1
        here = list(manifests(folder))
        files += len(here)
        bad += len(errors)
        for key, n in gpu_objects(dump, here).items():
            objects += n
            # Objects with the same name share the findings.
            counts += [found[key] / n] * n
            clean += n * (found[key] == 0)
    counts.sort()
    median = counts[len(counts) // 2]
    decile = counts[len(counts) * 9 // 10]
    if "-v" in sys.argv:
        for (rule, severity), n in rules.most_common():
            print("%5d %-8s %s" % (n, severity, rule))
    print("%d GPU objects: errors and warnings median %g, ninth decile %g; "
          "%.1f %% without any; %.1f %% of %d files with an error; "
          "%d lines of output"
          % (objects, median, decile, 100 * clean / objects,
             100 * bad / files, files, lines))
    verdicts = [median <= MEDIAN, decile <= DECILE,
                clean / objects >= CLEAN, bad / files <= ERRORS,
                lines <= LINES]
    print("first run: %d passed, %d failed"
          % (sum(verdicts), len(verdicts) - sum(verdicts)))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
