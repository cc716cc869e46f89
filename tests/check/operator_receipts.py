# SPDX-License-Identifier: Apache-2.0
"""Check that operators' own code rejects what a check of their rule reports.

usage: operator_receipts.py GPUGATE TABLE WORK OPERATOR=PROGRAM...

TABLE has a line for each check: OPERATOR, RULE/CHECK, and a regular expression
for the operator's message. Each document of tests/rules/RULE whose only errors of
the rule belong to one check must be rejected with the message of that check, and
each check must have such a document. Documents of good files must be accepted.
Documents that the API server rejects before the operator sees them do not count,
and neither do TrainJobs without their runtime. Checks with `since` are warnings, and
need no line.
"""
import collections
import glob
import json
import os
import re
import sys

import yaml

from operators import (OPERATORS, RUNTIMES, TESTS, answers_of, findings_of,
                       is_patch, list_of, wanted)


def with_runtime(doc, docs):
    """Return the document or, if it refers to a runtime of the file, a List of
    both."""
    ref = doc.get("spec", {}).get("runtimeRef") or {}
    return next((list_of(one, doc) for one in docs
                 if one["kind"] in RUNTIMES and
                 one["metadata"]["name"] == ref.get("name")), doc)


def documents(operator):
    """Yield (name, object) of the fixtures of the operator's rule."""
    folder = os.path.join(TESTS, "rules", OPERATORS[operator][0])
    for path in sorted(glob.glob(folder + "/*.yaml")):
        if os.path.exists(path[:-len("yaml")] + "policy.yaml"):
            continue  # the policy sets another version of the operator
        with open(path, encoding="utf-8") as text:
            docs = json.loads(json.dumps(list(yaml.safe_load_all(text)),
                                         default=str))
            for i, doc in enumerate(docs, 1):
                if wanted(doc, operator) and not is_patch(doc) and \
                        not re.search(r"\${|{{", json.dumps(doc)):
                    yield f"{os.path.basename(path)}:{i}", \
                        with_runtime(doc, docs)


def verdicts(gpugate, operator, program, work):
    """Yield (name, checks with an error, the operator's answer) of each document."""
    made = list(documents(operator))
    os.makedirs(work)
    for i, (_, doc) in enumerate(made):
        with open(f"{work}/{i}.json", "w", encoding="utf-8") as out:
            json.dump(doc, out)
    answers = answers_of(program, [doc for _, doc in made])
    found = findings_of(gpugate, work)
    rule = OPERATORS[operator][0]
    for i, (name, _) in enumerate(made):
        yield name, {f.get("check") for f in found[f"{i}.json"]
                     if f["rule"] == rule and f["severity"] == "error"}, \
            answers[i]


def main(gpugate, table, work, *programs):
    want = collections.defaultdict(dict)
    with open(table, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                operator, name, message = line.rstrip("\n").split("\t")
                want[operator][name.partition("/")[2]] = message
    met, wrong = collections.Counter(), []
    for operator, program in (p.split("=", 1) for p in programs):
        for name, checks, answer in verdicts(gpugate, operator, program,
                                             f"{work}/{operator}"):
            where = f"{OPERATORS[operator][0]}/{name}"
            if answer.startswith(("undecodable", "failed")) or \
                    "must be created before" in answer:
                continue
            if not checks and answer != "accepted" and "/good" in where:
                wrong.append(f"{where}: {answer}")
            if len(checks) != 1:
                continue
            check = next(iter(checks))
            message = want[operator].get(check)
            if message and re.search(message, answer):
                met[operator, check] += 1
            else:
                wrong.append(f"{where}: {check}: {answer}" +
                             ("" if message else " (not in TABLE)"))
    asked = [p.partition("=")[0] for p in programs]
    lacks = [f"{o}/{c}: no document" for o in asked for c in want[o]
             if not met[o, c]]
    print(f"receipts of operators: {len(met)} checks, {sum(met.values())} "
          "documents rejected as said", *wrong, *lacks, sep="\n")
    sys.exit(bool(wrong or lacks))


if __name__ == "__main__":
    main(*sys.argv[1:])
