# SPDX-License-Identifier: Apache-2.0
"""Compares answers about expressions line by line.

usage: cel_compare.py BASE DIFFERENCES [--all] [ORACLE]

Reads BASE.cases, BASE.ours and, where they exist, BASE.go (the oracle's
answers) and BASE.expected (the suite's). DIFFERENCES has a line
`PATTERN<tab>WHY` for each intended difference from the oracle: a regular
expression over `CASE | OURS | GO`. Prints the first differences (--all: all of
them) and, at the end, `PASSED FAILED`. With the program ORACLE a case that
differs is evaluated again: the order of Go's maps is random, and each order is
right.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

SHOWN = 40
AGAIN = 64  # repetitions, so that an order with a chance of one in four is not missed

# Errors about texts that functions reject, and of format(): gpugate's are
# shorter.
GO_OF_A_TEXT = re.compile(
    "URL parse error|IP [Aa]ddress|IPv4-mapped|network address parse|"
    "quantities must|unable to parse|short version|No Major|Version string|"
    "(Major|Minor|Patch) number|Invalid character|strconv|Numeric PreRelease|"
    "Prerelease is|Build meta|error during formatting|could not parse|"
    "error parsing regexp|Illegal regex|unexpected end of string")
OURS_OF_A_TEXT = re.compile(
    "'.*' is not an? |could not parse formatting|a key of type .* has no text|"
    ".* (can only|can) be (used|formatted)|invalid UTF-8 in bytes|"
    "unexpected end of string", re.DOTALL)


def lines(path):
    path = pathlib.Path(path)
    return path.read_text().split("\n")[:-1] if path.exists() else None


def parts(answer):
    """Return (word, cost, rest)."""
    word, _, rest = answer.partition(" ")
    if word in ("ok", "error"):
        cost, _, rest = rest.partition(" ")
        return word, cost, rest
    return word, "-", rest


def same(ours, go):
    """Return true if the answers agree. Costs are compared only if both sides
    have a value, and the texts of refusals, which differ, are not compared. Two
    errors agree if their texts do, or if ours matches OURS_OF_A_TEXT and
    cel-go's matches GO_OF_A_TEXT."""
    our, their = parts(ours), parts(go)
    if our[0] != their[0]:
        return False
    if our[0] == "refuse" or their[1] == "-":
        return True
    if our[0] == "error":
        return brief(our[2]) == brief(their[2]) or (
            GO_OF_A_TEXT.match(their[2]) and OURS_OF_A_TEXT.match(our[2]))
    return our[1:] == their[1:]


def brief(error):
    """Return the error without the types, which cel-go names for some calls that no
    overload accepts."""
    return re.sub("^no such overload.*", "no such overload", error)


def in_another_order(oracle, case, ours):
    if not oracle:
        return False
    answers = subprocess.run([oracle, "cel"], input=(case + "\n") * AGAIN,
                             capture_output=True, text=True, check=True)
    return any(same(ours, go) for go in answers.stdout.split("\n")[:-1])


def meets(ours, expected):
    word, _, rest = parts(ours)
    if expected == "error":
        return word in ("error", "refuse")
    return expected == "any" or f"{word} {rest}" == expected


def main(base, listed, everything=False, oracle=None):
    cases, ours = lines(base + ".cases"), lines(base + ".ours")
    go, expected = lines(base + ".go"), lines(base + ".expected")
    differences = [line.split("\t") for line in lines(listed)
                   if line and not line.startswith("#")]
    counts = collections.Counter()
    shown = 0
    if len(ours) != len(cases) or go is not None and len(go) != len(cases):
        print(f"{len(cases)} cases, {len(ours)} answers")
        counts["failed"] += 1
    for i, answer in enumerate(ours):
        text = json.loads(cases[i])["expr"]
        name, want = (expected[i].split("\t") if expected else ("", "any"))
        theirs = go[i] if go else None
        if theirs is None:
            fine = meets(answer, want) or answer.startswith("refuse ")
        else:
            # If cel-go has an answer, it decides, because the suite has
            # functions that Kubernetes lacks.
            fine = same(answer, theirs)
        if not fine:
            line = f"{text} | {answer} | {theirs or want}"
            why = next((d for d in differences if re.search(d[0], line)), None)
            if why:
                counts[why[1]] += 1
                continue
            if theirs and in_another_order(oracle, cases[i], answer):
                counts["the order of Go's maps is random"] += 1
                continue
            counts["failed"] += 1
            shown += 1
            if everything or shown <= SHOWN:
                print(f"differs: {name} {line}"[:1500])
            continue
        counts["passed"] += 1
    for why, n in sorted(counts.items()):
        if why not in ("passed", "failed"):
            print(f"listed: {n}: {why}")
    print(counts["passed"], counts["failed"])


if __name__ == "__main__":
    more = sys.argv[3:]
    main(sys.argv[1], sys.argv[2], "--all" in more,
         next((word for word in more if word != "--all"), None))
