# SPDX-License-Identifier: Apache-2.0
"""One verdict: `gpugate lint` exits 0 exactly if the webhook allows.

Each object of a folder, and objects changed at random (mutants.py), go through
/mutate; what it made of them goes through `gpugate lint` and /validate, under
the same policy. Without a policy's word the action follows the severity, so
the two agree. What may differ, counted by reason:

  pods are patched    an error of an owner whose Pods admission repairs
  files only          placeholders and fragments exist in files

usage: equivalence.py BUILD FOLDER WORK NUMBER [SEED]
"""
import collections
import json
import pathlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutants import Trial, documents, mutant, patched  # noqa: E402
from review import NOT_DECODED, dump, review  # noqa: E402

HEAD = "apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
POLICIES = {"recommended": "", "strict": "extends: [strict]\n"}


def lint(trial, i, obj):
    path = trial.work / ("%05d.json" % i)
    dump(obj, path)
    done = subprocess.run(
        [str(trial.build / "gpugate"), "lint", "--isolated", "--policy",
         str(trial.policy), "--no-ignore", "--format", "json", str(path)],
        capture_output=True, check=False)
    return done.returncode, json.loads(done.stdout)


def is_repaired_later(obj, finding):
    return obj["kind"] != "Pod" and (finding.get("fix") or {}).get("safe")


def compare(trial, objects, counts):
    made = [patched(o, r["patch"]) if "patch" in r else o
            for o, r in zip(objects, trial.ask(
                "mutate", [review(o) for o in objects]))]
    answers = trial.ask("validate", [review(o) for o in made])
    with ThreadPoolExecutor(2) as pool:
        linted = list(pool.map(lambda p: lint(trial, *p), enumerate(made)))
    for i, ((status, report), answer) in enumerate(zip(linted, answers)):
        errors = [f for f in report["findings"] if f["severity"] == "error"]
        what = "%s %s: lint exits %d (%s), the webhook says %s" % (
            made[i]["kind"], i, status, sorted({f["rule"] for f in errors}),
            "allowed" if answer["allowed"] else answer["status"]["message"])
        summary = report["summary"]
        if (status == 0) == answer["allowed"]:
            counts["denied" if status else "allowed"] += 1
            trial.say(True, i, what)
        elif summary["placeholders"] or summary["fragments"]:
            counts["files only"] += 1
        elif status and all(f["rule"] == NOT_DECODED for f in errors):
            counts["not decoded"] += 1
        elif status and all(is_repaired_later(made[i], f) for f in errors):
            counts["pods are patched"] += 1
        else:
            trial.say(False, i, what)


def main():
    build, folder, work = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
    number = int(sys.argv[4])
    dice = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    origin = list(documents(build, folder))
    objects = origin + [mutant(dice.choice(origin), origin, dice)
                        for _ in range(number)]
    objects = [o for o in objects if isinstance(o.get("kind"), str)
               and isinstance(o.get("apiVersion"), str)
               and not o["kind"].endswith("List")]
    trial = Trial(build, work)
    for preset, text in POLICIES.items():
        counts = collections.Counter()
        trial.policy.write_text(HEAD + text)
        compare(trial, objects, counts)
        print("%s: %d objects: %s" % (preset, len(objects), ", ".join(
            "%d %s" % (n, what) for what, n in sorted(counts.items()))))
    for name, what in trial.failed[:20]:
        print("FAILED", name, what)
    print("equivalence: %d passed, %d failed" % (trial.held,
                                                 len(trial.failed)))
    return 1 if trial.failed else 0


if __name__ == "__main__":
    sys.exit(main())
