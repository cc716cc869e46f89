# SPDX-License-Identifier: Apache-2.0
"""Check that custom rules and their `gpugate rules --format vap` policies find
the same objects. The current folder has rules.yaml (export-rules.yaml) and a
policy that names it. For each kind, a good object is made, and one for each
defect in each of its pods. Prints differences, and defects that are not found.

usage: export.py GPUGATE [ORACLE]

With the oracle, cel-go evaluates the exported expressions as well, in the
environment of Kubernetes 1.36."""
import json
import os
import re
import subprocess
import sys

GPUGATE = sys.argv[1]


def holder(template):
    return {"template": template}


KINDS = {
    "Pod": ("v1", 1, lambda t: t[0]["spec"]),
    "Job": ("batch/v1", 1, lambda t: holder(t[0])),
    "CronJob": ("batch/v1", 1, lambda t: {
        "schedule": "@daily", "jobTemplate": {"spec": holder(t[0])}}),
    "Deployment": ("apps/v1", 1, lambda t: dict(
        holder(t[0]), selector={"matchLabels": {"app": "a"}})),
    "StatefulSet": ("apps/v1", 1, lambda t: dict(
        holder(t[0]), serviceName="a",
        selector={"matchLabels": {"app": "a"}})),
    "DaemonSet": ("apps/v1", 1, lambda t: dict(
        holder(t[0]), selector={"matchLabels": {"app": "a"}})),
    "PyTorchJob": ("kubeflow.org/v1", 2, lambda t: {"pytorchReplicaSpecs": {
        "Master": holder(t[0]), "Worker": holder(t[1])}}),
    "MPIJob": ("kubeflow.org/v2beta1", 2, lambda t: {"mpiReplicaSpecs": {
        "Launcher": holder(t[0]), "Worker": holder(t[1])}}),
    "RayJob": ("ray.io/v1", 3, lambda t: {
        "rayClusterSpec": {
            "headGroupSpec": holder(t[0]),
            "workerGroupSpecs": [{"groupName": "a"} | holder(t[1])]},
        "submitterPodTemplate": t[2]}),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", 2, lambda t: {
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": t[0],
                                 "workerTemplate": t[1]}}),
    "JobSet": ("jobset.x-k8s.io/v1alpha2", 2, lambda t: {"replicatedJobs": [
        {"name": "a", "template": {"spec": holder(t[0])}},
        {"name": "b", "template": {"spec": holder(t[1])}}]}),
    "VolcanoJob": ("batch.volcano.sh/v1alpha1", 2, lambda t: {"tasks": [
        {"name": "a", "replicas": 1} | holder(t[0]),
        {"name": "b", "replicas": 1} | holder(t[1])]}),
    "DisaggregatedSet": ("disaggregatedset.x-k8s.io/v1", 2, lambda t: {
        "roles": [{"name": n, "replicas": 1, "spec": {"leaderWorkerTemplate": {
            "size": 1, "workerTemplate": p}}} for n, p in zip("ab", t)]}),
    "PodCliqueSet": ("grove.io/v1alpha1", 2, lambda t: {
        "replicas": 1, "template": {"cliques": [
            {"name": n, "spec": {"replicas": 1, "podSpec": p["spec"]}}
            for n, p in zip("ab", t)]}}),
    "PodClique": ("grove.io/v1alpha1", 1, lambda t: {
        "replicas": 1, "podSpec": t[0]["spec"]}),
}
# defects of a pod: (rule, change)
DEFECTS = {
    "registry": lambda t: t["spec"]["containers"][0].update(image="evil/a:1"),
    "no-latest": lambda t: t["spec"].update(
        initContainers=[{"name": "i", "image": "quay.io/i:latest"}]),
    "host-network": lambda t: t["spec"].update(hostNetwork=True),
    "grace": lambda t: t["spec"].update(terminationGracePeriodSeconds=900),
    "spot-error": lambda t: t["spec"].update(nodeSelector={"b": "c"}),
    "owner": lambda t: t["metadata"].update(labels={"app": "a"}),
}


def template():
    return {"metadata": {"labels": {"app": "a", "owner": "me"}},
            "spec": {"containers": [{"name": "main", "image": "quay.io/a:1"}]}}


def write(name, kind, templates, namespace="ml-a", labels=None):
    version, _, spec = KINDS[kind]
    os.makedirs("objects", exist_ok=True)
    metadata = {"name": "a", "namespace": namespace,
                "labels": dict(labels or {"team": "vision"})}
    if kind == "Pod":
        metadata["labels"].update(templates[0]["metadata"]["labels"])
    with open(f"objects/{name}.yaml", "w") as f:
        json.dump({"apiVersion": version, "kind": kind.replace("Volcano", ""),
                   "metadata": metadata, "spec": spec(templates)}, f)


def run(*arguments):
    return subprocess.run([GPUGATE, *arguments], text=True,
                          stdout=subprocess.PIPE, check=False)


def findings(rule_of, *arguments):
    done = run("lint", "--format", "json", "--fail-on", "never", "--show-all",
               *arguments, "objects")
    assert done.returncode == 0, done
    return {(rule_of(f), os.path.basename(f["file"]), f["severity"])
            for f in json.loads(done.stdout)["findings"]}


def objects():
    """Write the objects; return the (rule, file) pairs that must be found."""
    wanted = set()
    for kind, (_, places, _) in KINDS.items():
        write(f"{kind}-good", kind, [template() for _ in range(places)])
        write(f"{kind}-team", kind, [template() for _ in range(places)],
              labels={"team": "robots"})
        write(f"{kind}-elsewhere", kind, [template() for _ in range(places)],
              "prod", {"team": "robots"})
        wanted.add(("team", f"{kind}-team.yaml"))
        for rule, change in DEFECTS.items():
            for place in range(places):
                templates = [template() for _ in range(places)]
                change(templates[place])
                write(f"{kind}-{rule}-{place}", kind, templates)
                # a PodSpec has no labels
                if rule != "owner" or "Clique" not in kind:
                    wanted.add((rule, f"{kind}-{rule}-{place}.yaml"))
    return wanted


def substitute(expression, variables):
    """Return the expression with each variables.NAME replaced by its expression."""
    for name, value in variables.items():
        expression = re.sub(rf"\bvariables\.{name}\b",
                            lambda _, v=value: f"({v}\n)", expression)
    return expression


def written():
    """Yield the objects of the folder: (file, object)."""
    for file in sorted(os.listdir("objects")):
        with open(f"objects/{file}") as f:
            yield file, json.load(f)


def cel_cases(policy, things):
    """Yield the name of each object, and a case of the policy's conditions and
    of its validation."""
    variables = {v["name"]: v["expression"]
                 for v in policy.get("variables", [])}
    expressions = [c["expression"] for c in policy.get("matchConditions", [])]
    expressions.append(policy["validations"][0]["expression"])
    for name, thing in things:
        group, _, version = thing["apiVersion"].rpartition("/")
        request = {"namespace": thing["metadata"].get("namespace", ""),
                   "kind": {"group": group, "version": version,
                            "kind": thing["kind"]}}
        yield name, [json.dumps({
            "expr": substitute(e, variables), "budget": 10000000,
            "vars": {"object": {"type": "dyn", "json": thing},
                     "oldObject": {"type": "dyn", "json": None},
                     "request": {"type": "dyn", "json": request}}})
                     for e in expressions]


def denied(answers, policy):
    """Return true if the policy denies an object. `answers` are those to its
    match conditions, which must all be true, and to its validation, the last one."""
    *conditions, verdict = [a.split()[0] == "ok" and a.split()[-1]
                            for a in answers]
    if not all(c == "true" for c in conditions):
        return False
    return verdict == "false" or (
        not verdict and policy["failurePolicy"] == "Fail")


def ask(oracle, policy, things):
    """Yield names of the objects that the policy denies in cel-go. `oracle` is a
    program and its arguments."""
    cases = list(cel_cases(policy, things))
    answers = subprocess.run(
        oracle, text=True, stdout=subprocess.PIPE, check=True,
        input="".join(c + "\n" for _, some in cases for c in some)
    ).stdout.splitlines()
    assert len(answers) == sum(len(some) for _, some in cases)
    for name, some in cases:
        mine, answers = answers[:len(some)], answers[len(some):]
        assert not any(a.startswith("refuse") for a in mine), mine
        if denied(mine, policy):
            yield name


def with_oracle(oracle, exported):
    """Return the pairs (policy, file) that cel-go denies, and the number of
    pairs it evaluated."""
    import yaml
    found, judged, things = set(), 0, list(written())
    for document in yaml.safe_load_all(exported):
        if document and document["kind"] == "ValidatingAdmissionPolicy":
            name, policy = document["metadata"]["name"], document["spec"]
            found |= {(name, file)
                      for file in ask([oracle, "cel"], policy, things)}
            judged += len(things)
    return found, judged


def main():
    wanted = objects()
    names = {rule for rule, _ in wanted}
    exported = run("rules", "--format", "vap")
    assert exported.returncode == 0, exported
    with open("vap.yaml", "w") as f:
        f.write(exported.stdout)
    own = findings(lambda f: f["rule"], "--select", "custom")
    theirs = findings(lambda f: f["policy"], "--isolated",
                      "--admission-policy", "vap.yaml",
                      "--select", "admission-policy")
    for finding in sorted(own ^ theirs):
        print("only", "the rule" if finding in own else "the policy", finding)
    found = {(rule, file) for rule, file, _ in theirs}
    for pair in sorted(wanted - found):
        print("not found", pair)
    for pair in sorted(p for p in found - wanted if p[0] in names):
        print("not wanted", pair)
    if len(sys.argv) > 2:
        judged, n = with_oracle(sys.argv[2], exported.stdout)
        for pair in sorted(judged ^ found):
            print("only", "cel-go" if pair in judged else "gpugate", pair)
        print(n, "verdicts of cel-go")
    print(len(names), "rules,", len(KINDS), "kinds,", len(found), "findings")


if __name__ == "__main__":
    main()
