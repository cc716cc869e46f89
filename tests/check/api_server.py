# SPDX-License-Identifier: Apache-2.0
"""Compare the rules' findings with the verdicts of a real API server.

usage: api_server.py GPUGATE SHARED LIST

LIST names the expected disagreements, one per line:
    missed CASE            reason    rejected, but no rule reports it
    claimed CASE RULE      reason    a rule reports it as rejected, but it was not
A disagreement that is not listed fails, as does a line that no longer applies.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

# Rules whose error states that the API server rejects the object.
CLAIMS = {
    "quantity-invalid", "field-type-invalid", "gpu-request-without-limit",
    "gpu-request-limit-mismatch", "gpu-fractional-quantity",
    "gpu-pod-level-resource", "restart-policy-invalid",
    "job-restart-policy-missing", "priority-integer-set",
    "dra-request-invalid",
}
# Reasons of the server that no rule covers: names, schemas of custom resources,
# parts of objects unrelated to GPUs.
FOREIGN = (
    "metadata.name: Invalid value", "metadata.namespace: Invalid value",
    "serviceAccountName: Invalid value", "is invalid: metadata.name:",
    "spec.selector: Required value", "does not match template",
    "`selector` does not match", ".image: Required value",
    "containers: Required value", "pathType", "illegal base64",
    "ownerReferences", "endpointPickerRef", "unsupported scope",
    "sparkVersion", "replicas cannot be set when", "config.inline",
    "adminAccess", "rules[0].name: Required", "Duplicate value",
    "nodeSelectorTerms", "generateName",
    "must be no more than", "a lowercase RFC 1123",
)


def lint(gpugate, path, *options):
    run = subprocess.run(
        [gpugate, "lint", "--isolated", "--preset", "all", "--no-ignore-vcs",
         "--show-all", "--format", "json", "--fail-on", "never", *options, str(path)],
        capture_output=True, text=True, check=False)
    return json.loads(run.stdout)


def small_objects(gpugate, shared):
    """Yield (case, refused, message, error rules) of the verdict table."""
    table = shared / "reference" / "api-server-verdicts.tsv"
    with tempfile.TemporaryDirectory() as folder:
        for line in table.read_text().splitlines():
            if line.startswith("#"):
                continue
            fields = line.split("\t") + [""]
            path = pathlib.Path(folder) / "o.json"
            path.write_text(fields[0])
            report = lint(gpugate, path)
            errors = {f["rule"] for f in report["findings"]
                      if f["severity"] == "error"}
            yield (fields[1].replace(" ", "-"), fields[2] == "rejected",
                   fields[3], errors)


def documents(gpugate, shared):
    """Yield the same for every document of the corpus that the server
    knows."""
    corpus = shared / "corpus"
    report = lint(gpugate, corpus)
    found = {}
    for f in report["findings"]:
        if f["severity"] == "error":
            name = str(pathlib.Path(f["file"]).resolve()
                       .relative_to(corpus.resolve()))
            found.setdefault((name, f["document"]), set()).add(f["rule"])
    with open(corpus / "API-SERVER.tsv") as table:
        rows = csv.reader((line for line in table
                           if not line.startswith("#")), delimiter="\t",
                          quoting=csv.QUOTE_NONE)
        next(rows)
        for row in rows:
            if row[5] == "unknown kind" or row[5] not in ("accepted",
                                                          "rejected"):
                continue
            key = (row[0], int(row[1]))
            # The schema of a custom resource accepts pod templates for which
            # its operator's Pods will be rejected.
            native = row[2] in ("v1", "apps/v1", "batch/v1")
            errors = found.get(key, set())
            yield (f"{row[0]}:{row[1]}", row[5] == "rejected", row[6],
                   errors if native or row[5] == "rejected"
                   else errors - CLAIMS)


def has_placeholder(message):
    return any(sign in message for sign in
               ("${", '"$', "<", "FILLED", '"string"', '"number"'))


def judge(case, refused, message, errors):
    """Return lines `missed CASE` or `claimed CASE RULE` for one verdict."""
    claims = errors & CLAIMS
    if not refused:
        return [f"claimed {case} {rule}" for rule in sorted(claims)]
    if errors:
        return []
    if any(text in message for text in FOREIGN) or has_placeholder(message):
        return []
    return [f"missed {case}"]


def main():
    gpugate, shared, known = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    listed = {}
    for line in open(known):
        line = line.split("#", 1)[0].rstrip()
        if line.strip():
            what, _, reason = line.partition("\t")
            listed[what.strip()] = reason.strip()
    passed = failed = 0
    seen = set()
    sources = [small_objects(gpugate, shared)]
    if (shared / "corpus" / "API-SERVER.tsv").exists():
        sources.append(documents(gpugate, shared))
    else:
        print("skip: the corpus is absent")
    for source in sources:
        for verdict in source:
            wrong = judge(*verdict)
            seen.update(wrong)
            new = [w for w in wrong if not listed.get(w)]
            for line in new:
                print(f"FAIL {line}: {verdict[2][:160]}")
            failed += bool(new)
            passed += not new
    for line in sorted(set(listed) - seen):
        print(f"FAIL listed, but it no longer holds: {line}")
        failed += 1
    print(f"API server: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
