#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that operator_version.c and custom_types.tsv name the same releases.

The head of the table lists the releases whose definitions were read, such as
"KubeRay 0.5 to 1.7". The C file has the last one of each operator.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "rules/kube/data/custom_types.tsv"
CODE = ROOT / "rules/engine/run/operator_version.c"


def main():
    head = " ".join(line[1:].strip() for line in
                    TABLE.read_text().splitlines() if line.startswith("#"))
    rows = re.findall(r'OPERATOR_\w+,\s*"([^"]+)",\s*"([\d.]+)"',
                      CODE.read_text())
    failed = [f"{name} {last}" for name, last in rows
              if not re.search(rf"{re.escape(name)} [\d.]+ to "
                               rf"{re.escape(last)}\b", head)]
    for text in failed:
        print(f"FAIL operator_version.c has {text}, custom_types.tsv has not")
    print(f"operator-versions: {len(rows) - len(failed)} passed, "
          f"{len(failed)} failed")
    return bool(failed) or not rows


sys.exit(main())
