#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that the map at the head of each README names existing folders and
files.

Every folder with C files below a mapped one has a row that begins with its
name, and every file that a row names is in that folder. No folder holds more
than 26 C files and headers: larger folders are split, so that a reader can
take in each at a glance.

usage: maps.py
"""
import pathlib
import re
import subprocess
import sys

MAPPED = ["lint", "webhook", "certs", "rules/doc", "rules/engine",
          "rules/kube"]
MOST = 26
NAME = re.compile(r"`([\w*./-]+)`")


def tracked():
    out = subprocess.run(["git", "ls-files", "--", "*.c", "*.h"], check=True,
                         capture_output=True, text=True).stdout
    return [pathlib.Path(name) for name in out.split()]


def rows(readme):
    """Yield (line number, folder, names) of each row of the maps."""
    for number, line in enumerate(readme.read_text().splitlines(), 1):
        if not line.startswith("| `"):
            continue
        first, *cells = line.strip("|").split(" | ")
        folders = [n for n in NAME.findall(first) if n.endswith(("/", "."))]
        yield (number, (folders or ["."])[0],
               NAME.findall(first) + NAME.findall(" ".join(cells)))


def check_map(folder, files, wrong):
    readme = pathlib.Path(folder, "README.md")
    seen = set()
    for number, place, names in rows(readme):
        seen.add(place.rstrip("/"))
        for name in names:
            if not re.search(r"\.(c|h|sh|tsv|txt)$", name):
                continue
            if not (list(pathlib.Path(folder, place).glob(name)) or
                    pathlib.Path(name).exists()):
                wrong.append(f"{readme}:{number}: no {name} in {place}")
    for path in sorted({f.parent for f in files}):
        if folder in map(str, path.parents):
            name = str(path.relative_to(folder))
            if name not in seen:
                wrong.append(f"{readme}: no row for {name}/")


def main():
    files = tracked()
    wrong = []
    for folder in MAPPED:
        check_map(folder, files, wrong)
    counts = {}
    for path in files:
        counts.setdefault(str(path.parent), []).append(path)
    for folder, held in counts.items():
        if not folder.startswith(("rules/catalog", "tests")) and \
                len(held) > MOST:
            wrong.append(f"{folder}: {len(held)} C files and headers, "
                         f"at most {MOST}")
    print("\n".join(wrong), file=sys.stderr)
    print(f"maps: {len(MAPPED)} READMEs, {len(counts)} folders")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
