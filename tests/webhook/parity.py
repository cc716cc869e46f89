# SPDX-License-Identifier: Apache-2.0
"""One engine, three callers: each object of the corpus through `gpugate lint`,
`gpugate krm` and the webhook. Findings (rule, severity, message, pointer,
fingerprint) and the repaired object must be the same.

With `state` all of them get a made-up cluster state for the namespaces of the
corpus: some quotas are full, others are free. With `rules` they get the rules of
deploy/examples/rules alone, over these rules' fixtures and a part of the corpus,
and what /validate and /mutate answer is compared as well.

usage: parity.py BUILD CORPUS WORK [state|rules]
"""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from review import NOT_DECODED, dump, review  # noqa: E402

build, corpus, work = sys.argv[1:4]
with_state = sys.argv[4:] == ["state"]
with_rules = sys.argv[4:] == ["rules"]
state = ["--cluster", work + "/state.json"] if with_state else []
settings = ["--config", work + "/rules.yaml"] if with_rules else ["--isolated"]
examples = os.path.abspath(os.path.dirname(__file__) +
                           "/../../deploy/examples/rules")
gpugate = os.path.abspath(build + "/gpugate")
passed = failed = 0
listed = {}
rules_seen = set()


def say(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        if failed <= 30:
            print("FAILED", what)


def run(*command, **more):
    return subprocess.run(command, capture_output=True, check=False, **more)


def documents():
    files = sorted(f for f in glob.glob(corpus + "/**/*", recursive=True)
                   if f.endswith((".yaml", ".yml", ".json")))
    if with_rules:
        files = sorted(glob.glob(examples + "/tests/*.yaml")) + files[::3]
    out = run(build + "/tests/tools/doc_dump", *files).stdout.decode()
    name = files[0]
    for line in out.splitlines():
        if line.startswith("== "):
            name = line[3:]
        elif not line.startswith(("error ", "note ")):
            try:
                yield name, json.loads(line)
            except ValueError:
                listed.setdefault("number beyond Python", []).append(name)


def objects():
    for name, doc in documents():
        items = [doc]
        if isinstance(doc, dict) and str(doc.get("kind")).endswith("List") \
                and isinstance(doc.get("items"), list):
            items = doc["items"]
        for obj in items:
            if isinstance(obj, dict) and isinstance(obj.get("kind"), str) \
                    and isinstance(obj.get("apiVersion"), str):
                yield name, obj


def key(finding):
    return (finding["rule"], finding["severity"], finding["message"],
            finding["path"], finding["fingerprint"])


def compare(name, path, webhook):
    out = run(gpugate, "lint", *settings, "--format", "json", *state, path)
    report = json.loads(out.stdout)
    summary = report["summary"]
    lint = sorted(key(f) for f in report["findings"]
                  if f["rule"] != NOT_DECODED)
    mine = sorted(key(f) for f in webhook["findings"]
                  if not f["suppressed"] and f["rule"] != NOT_DECODED)
    if lint != mine and (summary["placeholders"] or summary["fragments"]):
        listed.setdefault("placeholders and fragments exist in files only",
                          []).append(name)
        return
    say(lint == mine, f"{name} {path}: only lint {set(lint) - set(mine)}, "
        f"only webhook {set(mine) - set(lint)}")
    if lint != mine:
        return
    # Fragments are not applied: their GPUs are not in the sum.
    gpus = 0 if summary["fragments"] else webhook["gpus"]
    say(summary["gpus"] == gpus, f"{name}: GPUs")
    rules_seen.update(f["rule"] for f in report["findings"])
    if with_rules:
        compare_answers(name, path, report)
    if with_state:
        return
    compare_repair(name, path, webhook, summary["placeholders"])
    compare_krm(name, path)


def compare_answers(name, path, report):
    """Errors deny, and the text of the first one is the denial's."""
    response = json.loads(run(
        build + "/tests/tools/admission", "--policy", work + "/rules.yaml",
        "validate", path + ".review").stdout)["response"]
    errors = [f for f in report["findings"] if f["severity"] == "error"
              and not f.get("fix", {}).get("safe")]
    said = response.get("status", {}).get("message", "")
    say(response["allowed"] == (not errors), f"{name}: /validate {response}")
    for finding in errors:
        say(finding["rule"] in said and finding["message"][:40] in said,
            f"{name}: {finding['rule']} is not in {said}")


def compare_repair(name, path, webhook, placeholders):
    run(gpugate, "lint", *settings, "--fix", "-q", path)
    with open(path, encoding="utf-8") as text:
        fixed = json.load(text)
    with open(path + ".orig", encoding="utf-8") as text:
        before = json.load(text)
    if fixed != (webhook["patched"] or before) and placeholders:
        listed.setdefault("placeholders keep a file from its repair",
                          []).append(name)
        return
    say(fixed == (webhook["patched"] or before),
        f"{name} {path}: repairs differ")


def compare_krm(name, path):
    """It repairs, then reports what is left: as lint does for the new file."""
    with open(path, encoding="utf-8") as text:
        fixed = json.load(text)
    with open(path + ".orig", encoding="utf-8") as text:
        obj = json.load(text)
    if not isinstance(obj.get("metadata"), dict):
        return
    wrapped = {"apiVersion": "config.kubernetes.io/v1",
               "kind": "ResourceList", "items": [obj]}
    with open(path + ".krm", "wb") as made:
        made.write(run(gpugate, "krm", *settings,
                       input=json.dumps(wrapped).encode()).stdout)
    dumped = run(build + "/tests/tools/doc_dump", path + ".krm").stdout
    if not dumped.startswith(b"{"):
        say(False, f"{name}: krm wrote {dumped[:80]}")
        return
    answer = json.loads(dumped)
    said = sorted(r["message"] for r in answer.get("results") or [])
    left = run(gpugate, "lint", *settings, "--format", "json", path)
    wanted = sorted(f["message"] for f in json.loads(left.stdout)["findings"])
    say(answer["items"] == [fixed], f"{name}: krm repairs differ")
    say(said == wanted, f"{name}: krm says {said} not {wanted}")


def write_rules():
    """Each of the examples is on, and patches where it can."""
    with open(work + "/rules.yaml", "w", encoding="utf-8") as out:
        out.write("apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
                  f"custom: [{examples}/*.yaml]\n")
    listing = run(gpugate, "rules", "--config", work + "/rules.yaml",
                  "--format", "json").stdout
    with open(work + "/rules.yaml", "a", encoding="utf-8") as out:
        out.write("rules:\n  all: off\n")
        for rule in json.loads(listing)["rules"]:
            if rule["category"] == "custom":
                action = "{action: patch}" if rule["repair"] == "safe" else "{}"
                out.write(f"  {rule['name']}: {action}\n")


def made_up(kind, name, namespace=None, version="v1", **fields):
    meta = {"name": name, **fields.pop("metadata", {})}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def write_state(namespaces):
    items = []
    for n, space in enumerate(sorted(namespaces)):
        hard = {"requests.nvidia.com/gpu": str(n % 9)}
        if n % 3 == 0:
            hard["limits.memory"] = "1Ti"
        items.append(made_up("Namespace", space, metadata={
            "labels": {"tier": ["dev", "prod"][n % 2]}}))
        items.append(made_up(
            "ResourceQuota", "gpus", space, spec={"hard": hard},
            status={"hard": hard,
                    "used": {"requests.nvidia.com/gpu": str(n % 4)}}))
        if n % 4 == 0:
            items.append(made_up("LimitRange", "limits", space, spec={
                "limits": [{"type": "Container",
                            "default": {"nvidia.com/gpu": "1"},
                            "max": {"nvidia.com/gpu": "2"}}]}))
    scheduling = "scheduling.k8s.io/v1"
    items.append(made_up("PriorityClass", "gpu-batch", version=scheduling,
                         value=1000))
    for n in range(3):
        items.append(made_up("Node", f"gpu-{n}", metadata={"labels": {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
            "kubernetes.io/hostname": f"gpu-{n}"}}, spec={"taints": [{
                "key": "nvidia.com/gpu", "value": "present",
                "effect": "NoSchedule"}]}, status={"allocatable": {
                    "cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "4"}}))
    dump({"apiVersion": "gpugate.dev/v1", "kind": "ClusterSnapshot",
          "version": 1, "takenAt": "2026-01-31T08:00:00Z", "items": items},
         work + "/state.json")


def main():
    names, paths, spaces = [], [], set()
    if with_rules:
        write_rules()
    for n, (name, obj) in enumerate(objects()):
        path = f"{work}/{n:05}.json"
        dump(obj, path)
        dump(obj, path + ".orig")
        dump(review(obj), path + ".review")
        names.append(name)
        paths.append(path)
        meta = obj.get("metadata")
        if isinstance(meta, dict) and isinstance(meta.get("namespace"), str):
            spaces.add(meta["namespace"])
    if with_state:
        write_state(spaces)
    with open(work + "/list", "w", encoding="utf-8") as out:
        out.writelines(p + ".review\n" for p in paths)
    webhook = run(build + "/tests/tools/admission",
                  "--policy", work + ("/rules.yaml" if with_rules
                                      else "/policy.yaml"),
                  *state, "findings", "@" + work + "/list")
    lines = webhook.stdout.decode().splitlines()
    say(len(lines) == len(paths), f"{len(lines)} answers to {len(paths)} "
        f"reviews: {webhook.stderr.decode()[-300:]}")
    for name, path, line in zip(names, paths, lines):
        compare(name, path, json.loads(line))
    for why, files in sorted(listed.items()):
        print(f"listed: {len(files)} objects differ: {why}")
    if with_state:
        needs = {"quota-would-exceed", "quota-never-fits",
                 "priority-class-unknown", "node-selector-unmatched",
                 "gpu-count-exceeds-node", "quota-missing-cpu-memory"}
        say(needs <= rules_seen, f"rules that never spoke: {needs - rules_seen}")
    if with_rules:
        say(len(paths) >= 200, f"{len(paths)} objects only")
        say(len(rules_seen) >= 10, f"rules that spoke: {sorted(rules_seen)}")
    what = " ".join(sys.argv[4:])
    print(f"parity{' with ' + what if what else ''}: "
          f"{len(paths)} objects: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
