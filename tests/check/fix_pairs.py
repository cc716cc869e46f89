# SPDX-License-Identifier: Apache-2.0
"""Check that the fixes of different rules, safe and unsafe ones, do not disturb
each other, on the examples of all rules:

alone    the fixes of one rule: no other finding appears or becomes more severe
in turn  the fixes rule by rule, in forward and in reverse order: no removed
         finding reappears, and both orders come to an end
mended   a defect without a fix is planted, everything else is fixed, and the
         defect is removed: the result has only findings that the example also
         has after its fixes. A fix that relies on a defect fails this.

usage: fix_pairs.py GPUGATE RULES POLICY
"""
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

from fix import REVEALED, Check, apply

SEVERITIES = ("info", "warning", "error")
# Each defect replaces a text by another one; the first one is correct.
DEFECTS = (
    (b"nvidia.com/gpu:", b"nvidia.com/gpus:"),
    (b"nvidia.com/gpu:", b"nvidia/gpu:"),
    (b"image: registry.example.com/", b"image: ${REGISTRY}/"),
    (b"restartPolicy: Never", b"restartPolicy: never"),
)


class Tool:
    def __init__(self, gpugate, policy, work):
        self.gpugate, self.policy, self.work = gpugate, policy, work

    def run(self, text, *more):
        """Return the report, and the text after the fixes."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            path = pathlib.Path(folder, "a.yaml")
            path.write_bytes(text)
            done = subprocess.run(
                [self.gpugate, "lint", "--preset", "all", "--config",
                 self.policy, "--fail-on", "never", "--show-all", "--format",
                 "json", *more, path], capture_output=True, check=True)
            return done.stdout, path.read_bytes()

    def findings(self, text, *more):
        return json.loads(self.run(text, *more)[0])["findings"]

    def fixed(self, text):
        return self.run(text, "--fix", "--unsafe-fixes")[1]


def place(f):
    return (f["rule"], json.dumps(f["object"], sort_keys=True), f["pod"],
            f["container"])


def worst(findings):
    found = collections.defaultdict(int)
    for f in findings:
        key = place(f)
        found[key] = max(found[key], 1 + SEVERITIES.index(f["severity"]))
    return found


def edits(findings, rule):
    return sorted({(e["start"], e["end"], e["text"]) for f in findings
                   if f["rule"] == rule and f.get("fix")
                   for e in f["fix"]["edits"]})


def fixable(findings):
    return sorted({f["rule"] for f in findings
                   if f.get("fix") and f["fix"]["edits"]})


def worse(before, after, allowed=()):
    return sorted(f"{key[0]} in {key[1]} {key[3]}" for key, level in
                  after.items()
                  if level > before.get(key, 0) and key[0] not in allowed)


def alone(tool, check, name, text, findings):
    for rule in fixable(findings):
        new = apply(text, edits(findings, rule))
        if new is None:
            continue
        now = worst(tool.findings(new))
        was = worst(findings)
        if worse(was, now):
            # A finding that `rule` suppressed is not new.
            was = {**worst(tool.findings(text, "--ignore", rule)), **was}
        wrong = worse(was, now, REVEALED.get(rule, ()))
        check(not wrong, f"{name}: the fix of {rule} alone: {wrong}")


def in_turn(tool, check, name, text, findings, backward):
    gone = {}
    tried = set()
    while True:
        rules = [r for r in fixable(findings) if r not in tried]
        if not rules:
            return
        rule = rules[-1 if backward else 0]
        tried.add(rule)
        new = apply(text, edits(findings, rule))
        if new is None or new == text:
            continue
        text, was = new, worst(findings)
        findings = tool.findings(text)
        now = worst(findings)
        back = sorted({key[0] for key in now if key in gone})
        check(not back, f"{name}: the fix of {rule} brings back {back}")
        for key in was:
            if key not in now and key[0] == rule:
                gone[key] = rule


def mended(tool, check, name, text):
    wanted = None
    for right, wrong in DEFECTS:
        if right not in text or wrong in text:
            continue
        if wanted is None:
            was = tool.findings(text)
            wanted = worst(was + tool.findings(tool.fixed(text)))
        new = tool.fixed(text.replace(right, wrong)).replace(wrong, right)
        found = worse(wanted, worst(tool.findings(new)))
        check(not found, f"{name}: `{wrong.decode()}` mended: {found}")


def examine(tool, path):
    check = Check()
    text = path.read_bytes()
    name = f"{path.parent.name}/{path.name}"
    mended(tool, check, name, text)
    if path.name.startswith("good"):
        return check
    findings = tool.findings(text)
    alone(tool, check, name, text, findings)
    in_turn(tool, check, name, text, findings, False)
    in_turn(tool, check, name, text, findings, True)
    return check


def main(gpugate, rules, policy):
    paths = sorted(p for name in ("bad", "good")
                   for p in pathlib.Path(rules).glob(f"*/{name}*.yaml")
                   if not p.name.endswith(".policy.yaml"))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        tool = Tool(gpugate, policy, work)
        for check in pool.map(lambda p: examine(tool, p), paths):
            passed += check.passed
            failed += check.failed
    print(f"fix_pairs: {passed} passed, {failed} failed")
    return 1 if failed or passed < 2000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
