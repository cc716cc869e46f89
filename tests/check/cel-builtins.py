# SPDX-License-Identifier: Apache-2.0
"""Built-in rules and what they are in CEL (rules/catalog/*/*.cel): are their
findings the same? Those of objects of the kinds that the file names, by object
and place.

usage: cel-builtins.py GPUGATE FILE|FOLDER..."""
import glob
import json
import os
import re
import subprocess
import sys

GPUGATE, PATHS = sys.argv[1], sys.argv[2:]
PREFIX = "gpugate-"
# Rules of which only the object is compared, and why.
OBJECT_ONLY = {}


def lint(*arguments):
    done = subprocess.run(
        [GPUGATE, "lint", "--format", "json", "--fail-on", "never",
         "--show-all", *arguments, *PATHS],
        text=True, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.returncode
    return json.loads(done.stdout)


def place(finding, by_object):
    """The object, and unless that will do the line and column."""
    thing = finding["object"]
    what = (finding["file"], finding["document"], thing["kind"],
            thing.get("name", ""))
    return what if by_object else (
        *what, finding["line"], finding["column"])


def kinds_of(text):
    """A set of (group, kind) that a file names."""
    names = re.search(r"kinds:\s*\[([^]]*)\]", text)[1]
    pairs = (name.strip().rpartition("/") for name in names.split(","))
    return {("" if group == "core" else group, kind)
            for group, _, kind in pairs}


def is_of(finding, kinds):
    group, _, _ = finding["object"]["apiVersion"].rpartition("/")
    return (group, finding["object"]["kind"]) in kinds


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    files = {}
    for path in sorted(glob.glob(f"{root}/rules/catalog/*/*.cel")):
        name = os.path.basename(path)[:-len(".cel")].replace("_", "-")
        with open(path) as f:
            files[name] = f.read()
    own = lint("--isolated", "--select", ",".join(files))
    cel = lint("--config", "policy.yaml", "--select", "custom")
    total = 0
    for name, text in files.items():
        by_object = name in OBJECT_ONLY
        kinds = kinds_of(text)
        c = {place(f, by_object): f for f in own["findings"] + own["suppressed"]
             if f["rule"] == name and is_of(f, kinds)}
        theirs = {place(f, by_object): f
                  for f in cel["findings"] + cel["suppressed"]
                  if f["rule"] == PREFIX + name}
        for where in sorted(c.keys() ^ theirs.keys(), key=str):
            print(name, "only", "C" if where in c else "CEL", *where,
                  (c.get(where) or theirs[where])["message"])
        if not c:
            print(name, "not found at all")
        total += len(c)
    print(len(files), "rules,", total, "findings")


main()
