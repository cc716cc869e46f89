#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the bypass cases through the linter and, if its tool is built, the webhook.

usage: check.py GPUGATE FOLDER OUT [CASE...]

A denied case names rules: each must be reported, its action must be deny, no
other rule may deny, and `lint --fail-on warning` must exit with 1. No rule may
deny an allowed case. Each object of each case is written to OUT/reviews as an
AdmissionReview.
"""
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cases
import review


def run(*command):
    return subprocess.run([str(word) for word in command], text=True,
                          capture_output=True, errors="replace", check=False)


class Sides:
    """The linter and the webhook, with the action that the policy gives each
    rule."""

    def __init__(self, gpugate, folder, out):
        self.gpugate = pathlib.Path(gpugate)
        self.policy = folder / "policy.yaml"
        self.out = out / "reviews"
        self.out.mkdir(parents=True)
        tools = self.gpugate.parent / "tests" / "tools"
        self.dump = tools / "doc_dump"
        self.admission = tools / "admission"
        self.policies = {}

    def denying(self, policy):
        """Return the rules whose action is deny."""
        if policy not in self.policies:
            config = run(self.gpugate, "config", "--config", policy)
            if config.returncode:
                sys.exit(config.stderr)
            words = [line.split() for line in config.stdout.splitlines()]
            self.policies[policy] = {
                w[0] for w in words if len(w) > 3 and w[2] == "deny"}
        return self.policies[policy]

    def lint(self, case):
        """Return the problem of the linter's verdict, or None."""
        policy = case.policy or self.policy
        done = run(self.gpugate, "lint", "--config", policy,
                   "--policy", policy,
                   "--no-ignore-vcs", "--fail-on", "warning",
                   "--show-all", "--format", "json", case.path)
        try:
            found = review.parse(done.stdout)["findings"]
        except ValueError:
            return f"no report: {done.stderr.strip()}"
        denying = self.denying(policy)
        denied = {f["rule"] for f in found if f["rule"] in denying}
        failing = {f["rule"] for f in found if f["severity"] != "info"}
        if case.without:
            wrong = denied & set(case.without)
            return f"denied: {wrong}" if wrong else None
        expected = set(case.deny + case.lint_deny)
        if done.returncode != (1 if expected else 0):
            return f"exit status {done.returncode}, reported {sorted(denied)}"
        if expected - (denied & failing):
            missing = sorted(expected - (denied & failing))
            return f"not denied: {missing}, reported {sorted(denied)}"
        surplus = (denied & failing) - expected
        if not case.loose and surplus:
            return f"denied as well: {sorted(surplus)}"
        return None

    def reviews(self, case):
        """Return the files of a case's reviews."""
        if case.is_review:
            return [case.path]
        done = run(self.dump, *(["--json"] if case.json else []), case.path)
        texts = review.objects(done.stdout)
        old = "null"
        if case.review.get("operation") == "UPDATE" and len(texts) > 1:
            old, *texts = texts
        paths = []
        for i, text in enumerate(texts):
            path = self.out / f"{case.name.replace('/', '-')}-{i}.json"
            path.write_text(review.write(case, text, old), encoding="utf-8",
                            errors="surrogateescape")
            paths.append(path)
        return paths

    def ask(self, case):
        """Return the problem of the webhook's verdict, or None."""
        paths = self.reviews(case)
        if not paths:
            return "no object for the webhook"
        if not self.admission.exists():
            return None
        allowed, messages = [], []
        for path in paths:
            done = run(self.admission, "--policy", case.policy or self.policy,
                       "validate", path)
            try:
                response = review.parse(done.stdout)["response"]
            except (ValueError, KeyError):
                return f"webhook: no response: {done.stdout}{done.stderr}"
            allowed.append(response["allowed"])
            messages.append(response.get("status", {}).get("message", ""))
        if case.deny and all(allowed):
            return "the webhook lets it in"
        if not case.deny and not case.without and not all(allowed):
            return f"the webhook denies it: {messages}"
        text = " ".join(messages)
        if case.without:  # only these rules count
            wrong = [rule for rule in case.without if rule in text]
            return f"the webhook denies it: {wrong}" if wrong else None
        missing = [rule for rule in case.deny if rule not in text]
        if missing and not case.is_review:
            return f"the webhook's text lacks {missing}: {text[:400]}"
        return None

    def judge(self, case):
        """Return the case, and the failures of both sides."""
        failures = []
        if case.lint:
            failures.append(self.lint(case))
        if case.webhook and self.dump.exists():
            failures.append(self.ask(case))
        return case, [f for f in failures if f]


def main():
    gpugate, folder, out = sys.argv[1:4]
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    sides = Sides(gpugate, folder, out)
    every = cases.read(folder, out)
    wanted = [c for c in every if not sys.argv[4:]
              or any(part in c.name for part in sys.argv[4:])]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(sides.judge, wanted))
    failed = 0
    for case, failures in results:
        for text in failures:
            print(f"FAIL {case.place}: {text}", file=sys.stderr)
        failed += bool(failures)
    for text in [] if sys.argv[4:] else cases.complaints(every, folder):
        print(f"FAIL {text}", file=sys.stderr)
        failed += 1
    skipped = 0
    if not sides.dump.exists():
        print(f"skip: no {sides.dump.name}: no reviews were written")
    elif not sides.admission.exists():
        skipped = sum(c.webhook for c in wanted)
        print(f"skip: no {sides.admission.name}: the linter alone judged, "
              f"{skipped} cases not put to the webhook")
    denied = sum(bool(c.deny) for c in wanted)
    print(f"{denied} bypass cases, {len(wanted) - denied} good variants, "
          f"{sum(not c.webhook for c in wanted)} for the linter only")
    print(f"bypass: {len(wanted) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
