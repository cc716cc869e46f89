# SPDX-License-Identifier: Apache-2.0
"""Extract the manifests of guides.

The guides are prose that contains YAML. A manifest begins at a line
`apiVersion:` in column 0 and ends before the next line that is neither blank,
indented, a list item nor a top-level key.

usage: seeds.py GPUGATE FOLDER OUT   writes OUT/<guide>-<n>.yaml, lints them
and guides.yaml, which has all pieces, and compares the findings with those in
the guides
"""
import json
import pathlib
import re
import subprocess
import sys

# guide, number of its manifest, kind, GPUs in the steady state, a rule that
# must report (None: any result)
EXPECT = [
    ("001", 1, "DaemonSet", 0, None),
    ("001", 2, "Pod", 1, "cuda-visible-devices-invalid"),
    ("001", 3, "ConfigMap", 0, None),
    ("001", 4, "PyTorchJob", 16, "job-backoff-unbounded"),
    ("001", 5, "RayCluster", 4, None),
    ("001", 6, "ResourceQuota", 0, "quota-gpu-key-ineffective"),
    ("002", 1, "PyTorchJob", 0, "gpu-limit-missing"),
    ("002", 2, "PriorityClass", 0, None),
    ("002", 3, "DistributedTraining", 0, None),
    ("002", 4, "PersistentVolumeClaim", 0, None),
    ("002", 5, "NetworkPolicy", 0, None),
    ("002", 6, "ResourceQuota", 0, "quota-gpu-key-ineffective"),
    ("002", 7, "Role", 0, None),
]
GOES_ON = re.compile(r"^$|^\s|^- |^[A-Za-z]+:( |$)")


def manifests(text):
    found, block = [], None
    for line in text.splitlines():
        if line.startswith("apiVersion: "):
            block = [line]
            found.append(block)
        elif block is not None and GOES_ON.match(line):
            block.append(line)
        else:
            block = None
    return ["\n".join(b).rstrip() + "\n" for b in found]


def lint(gpugate, path):
    run = subprocess.run(
        [gpugate, "lint", "--isolated", "--preset", "all", "--show-all", "--format", "json",
         str(path)], capture_output=True, text=True, check=False)
    return json.loads(run.stdout)


def check(gpugate, path, expected):
    _, _, kind, gpus, rule = expected
    report = lint(gpugate, path)
    rules = {f["rule"] for f in report["findings"]}
    kinds = {f["object"]["kind"] for f in report["findings"]}
    wrong = []
    if report["summary"]["objects"] != 1:
        wrong.append(f"objects {report['summary']['objects']}, not 1")
    if report["summary"]["gpus"] != gpus:
        wrong.append(f"gpus {report['summary']['gpus']}, not {gpus}")
    if rule and rule not in rules:
        wrong.append(f"{rule} not found")
    if kinds - {kind}:
        wrong.append(f"kinds {kinds}, not {kind}")
    return wrong


def together(gpugate):
    """Return the differences between the findings in guides.yaml and its
    marks."""
    path = pathlib.Path(__file__).with_name("guides.yaml")
    wanted = {(number, rule)
              for number, line in enumerate(path.read_text().splitlines(), 1)
              for rule in line.partition("# want ")[2].split()}
    found = {(f["line"], f["rule"]) for f in lint(gpugate, path)["findings"]}
    assert len(wanted) > 20
    return sorted(wanted ^ found)


def main():
    gpugate, folder, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    seen = set()
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        for n, text in enumerate(manifests(path.read_text()), 1):
            target = out / f"{path.name[:3]}-{n}.yaml"
            target.write_text(text)
            seen.add((path.name[:3], n))
    for expected in EXPECT:
        path = out / f"{expected[0]}-{expected[1]}.yaml"
        wrong = check(gpugate, path, expected) if path.exists() else ["no such"]
        for line in wrong:
            print(f"FAIL {path.name} ({expected[2]}): {line}")
        failed += bool(wrong)
        passed += not wrong
    extra = seen - {e[:2] for e in EXPECT}
    if extra:
        print("FAIL manifests without expectation:", sorted(extra))
        failed += 1
    wrong = together(gpugate)
    if wrong:
        print("FAIL guides.yaml, wanted or found alone:", wrong)
    failed += bool(wrong)
    passed += not wrong
    print(f"seeds: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
