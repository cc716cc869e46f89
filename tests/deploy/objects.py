#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the guarantees of rendered objects.

usage: objects.py COMMAND FILE...

same A.yaml B.yaml [IGNORED-LABEL...]
                     both have the same objects
defaults FILE        an install without values
reader FILE          permissions of a chart that watches the cluster
stateless FILE       permissions of a chart that watches nothing
every FILE           guarantees of every install
kinds FILE KINDS.TXT
metrics ALERTS DASHBOARD METRICS-SOURCE...
flags FILE HELP      all flags are in the program's --help
split FILE TAKEN LEFT
                     LEFT: objects whose CRDs are not available
policy FILE OUT      the policy of the ConfigMap
pods FILE OUT        Pods from the pod templates
"""
import json
import pathlib
import re
import sys

import yaml

HELM_LABELS = {"helm.sh/chart", "app.kubernetes.io/managed-by"}
KINDS = 30  # number of kinds that gpugated watches
OPTIONAL_GROUPS = {"cert-manager.io", "monitoring.coreos.com"}
problems = []


def expect(good, what):
    if not good:
        problems.append(what)


def load(path):
    with open(path, encoding="utf-8") as f:
        return [d for d in yaml.safe_load_all(f) if d]


def key(d):
    return (d["apiVersion"].split("/")[0], d["kind"],
            d["metadata"].get("namespace", ""), d["metadata"]["name"])


def only(documents, kind):
    return [d for d in documents if d["kind"] == kind]


def strip(node, labels):
    if isinstance(node, dict):
        return {k: strip(v, labels) for k, v in node.items()
                if k not in labels}
    if isinstance(node, list):
        return [strip(v, labels) for v in node]
    return node


def same(a, b, *ignored):
    labels = HELM_LABELS | set(ignored)
    left, right = ({key(d): strip(d, labels) for d in load(p)
                    if d["kind"] != "Namespace" and
                    "helm.sh/hook" not in
                    (d["metadata"].get("annotations") or {})}
                   for p in (a, b))
    for k in sorted(set(left) | set(right)):
        if k not in left or k not in right:
            expect(False, "%s only in %s" % (k, a if k in left else b))
            continue
        for d in (left[k], right[k]):
            if not d["metadata"].get("annotations", 1):
                del d["metadata"]["annotations"]
            if d["kind"] == "Secret":
                d.pop("data", None)
            if d["kind"] == "Deployment":  # patches add variables in front
                for box in d["spec"]["template"]["spec"]["containers"]:
                    box["env"].sort(key=lambda e: e["name"])
        expect(left[k] == right[k], "%s differs:\n%s\n%s" % (
            k, json.dumps(left[k], sort_keys=True),
            json.dumps(right[k], sort_keys=True)))


def webhooks(documents):
    for d in documents:
        if d["kind"].endswith("WebhookConfiguration"):
            for hook in d["webhooks"]:
                yield d["kind"], hook


def every(path):
    documents = load(path)
    for kind, hook in webhooks(documents):
        name = hook["name"]
        namespaces = {v for e in hook["namespaceSelector"]["matchExpressions"]
                      if e["key"] == "kubernetes.io/metadata.name" and
                      e["operator"] == "NotIn" for v in e["values"]}
        own = hook["clientConfig"]["service"]["namespace"]
        expect({"kube-system", "kube-node-lease", own} <= namespaces,
               name + ": system namespaces are not excluded")
        expect(hook["timeoutSeconds"] <= 3, name + ": timeoutSeconds")
        expect(hook["matchPolicy"] == "Equivalent", name + ": matchPolicy")
        expect(hook["sideEffects"] == "None", name + ": sideEffects")
        expect(hook["admissionReviewVersions"] == ["v1"], name + ": versions")
        expect(len(hook["matchConditions"]) <= 64, name + ": conditions")
        resources = {r for rule in hook["rules"] for r in rule["resources"]}
        expect(not resources & {"*", "*/*", "leases", "nodes", "events",
                                "pods/*", "tokenreviews",
                                "subjectaccessreviews"},
               name + ": %s" % resources)
        if kind.startswith("Mutating"):
            expect(hook["reinvocationPolicy"] == "IfNeeded", name)
            expect(resources == {"pods"}, name + ": mutates %s" % resources)
            expect(all(r["operations"] == ["CREATE"] for r in hook["rules"]),
                   name + ": mutates more than CREATE")
        if name.startswith("other-pods."):
            expect(hook["failurePolicy"] == "Ignore", name + ": must be Ignore")
    deletes = {hook["failurePolicy"] for _, hook in webhooks(documents)
               if any("DELETE" in r["operations"] for r in hook["rules"])}
    for d in only(documents, "Deployment"):
        deployment(d)
        box = d["spec"]["template"]["spec"]["containers"][0]
        expect(deletes == ({"Ignore"} if "--reservations=on" in box["args"]
                           else set()),
               "a reservation ends with its object: %s" % deletes)
    for d in documents:
        if d["kind"] in ("ClusterRole", "Role"):
            role(d)


def deployment(d):
    spec = d["spec"]["template"]["spec"]
    box = spec["containers"][0]
    drain = [int(a.split("=")[1]) for a in box["args"]
             if a.startswith("--drain=")]
    expect(spec["terminationGracePeriodSeconds"] > drain[0], "grace, drain")
    roll = d["spec"]["strategy"]["rollingUpdate"]
    expect(roll["maxUnavailable"] == 0, "maxUnavailable")
    security, inner = spec["securityContext"], box["securityContext"]
    expect(security["runAsNonRoot"] and security["runAsUser"] == 65532 and
           security["seccompProfile"] == {"type": "RuntimeDefault"}, "user")
    expect(inner == {"allowPrivilegeEscalation": False,
                     "readOnlyRootFilesystem": True,
                     "capabilities": {"drop": ["ALL"]}}, "securityContext")
    expect("memory" in box["resources"]["limits"] and
           "cpu" not in box["resources"]["limits"], "limits")
    ports = {p["name"]: p["containerPort"] for p in box["ports"]}
    for flag, name in (("--listen", "webhook"), ("--probe-listen", "probes")):
        expect("%s=:%d" % (flag, ports[name]) in box["args"], flag)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        expect(box[probe]["httpGet"]["port"] == "probes", probe)
    live = environment(box)["GPUGATED_LIVE"]
    if "--self-managed" in box["args"] or live == "on":
        expect(spec["automountServiceAccountToken"], "needs its token")
    expect(not any(m.get("subPath") for m in box["volumeMounts"]), "subPath")


def environment(box):
    return {e["name"]: e.get("value") for e in box["env"]}


def role(d):
    for rule in d["rules"]:
        expect("*" not in rule["resources"] + rule["verbs"] +
               rule["apiGroups"], "%s: wildcard" % d["metadata"]["name"])
        if "secrets" in rule["resources"]:
            expect(rule.get("resourceNames") and d["kind"] == "Role" and
                   "list" not in rule["verbs"], "Secrets: %s" % rule)
        writes = set(rule["verbs"]) - {"get", "list", "watch"}
        expect(not writes or rule.get("resourceNames"),
               "writes without a name: %s" % rule)


def defaults(path):
    documents = load(path)
    for _, hook in webhooks(documents):
        expect(hook["failurePolicy"] == "Ignore", hook["name"] + ": Fail")
        expect(not hook["name"].startswith("other-pods."), "allPods is on")
    times = {kind: hook["timeoutSeconds"]
             for kind, hook in webhooks(documents)}
    expect(times == {"MutatingWebhookConfiguration": 1,
                     "ValidatingWebhookConfiguration": 2}, str(times))
    expect(not only(documents, "Secret"), "a Secret")
    expect(not only(documents, "NetworkPolicy"), "a NetworkPolicy")
    d = only(documents, "Deployment")[0]
    spec = d["spec"]["template"]["spec"]
    expect(d["spec"]["replicas"] == 2, "replicas")
    expect([c["topologyKey"] for c in spec["topologySpreadConstraints"]] ==
           ["kubernetes.io/hostname", "topology.kubernetes.io/zone"], "spread")
    budget = only(documents, "PodDisruptionBudget")[0]["spec"]
    expect(budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow", "PDB")
    policy = only(documents, "ConfigMap")[0]["data"]["policy.yaml"]
    expect(yaml.safe_load(policy)["mode"] == "audit", "mode")
    service = only(documents, "Service")[0]["spec"]["ports"][0]
    expect(service["port"] == 443 and service["targetPort"] == "webhook",
           "Service")


def stateless(path):
    documents = load(path)
    expect(not [d for d in documents if "Role" in d["kind"]], "RBAC")
    spec = only(documents, "Deployment")[0]["spec"]["template"]["spec"]
    expect(spec["automountServiceAccountToken"] is False, "a token")
    expect(environment(spec["containers"][0])["GPUGATED_LIVE"] == "off",
           "the cluster state is watched")


def reader(path):
    wanted = {
        "": {"resourcequotas", "limitranges", "namespaces", "nodes", "pods",
             "persistentvolumeclaims"},
        "policy": {"poddisruptionbudgets"},
        "apps": {"daemonsets", "deployments"},
        "networking.k8s.io": {"networkpolicies"},
        "scheduling.k8s.io": {"priorityclasses"},
        "node.k8s.io": {"runtimeclasses"},
        "resource.k8s.io": {"deviceclasses", "resourceslices"},
        "nvidia.com": {"clusterpolicies"},
        "kueue.x-k8s.io": {"clusterqueues", "localqueues", "resourceflavors",
                           "topologies"},
        "scheduling.volcano.sh": {"queues"},
        "scheduling.run.ai": {"queues"},
        "karpenter.sh": {"nodepools"},
        "trainer.kubeflow.org": {"trainingruntimes",
                                 "clustertrainingruntimes"},
        "serving.kserve.io": {"servingruntimes", "clusterservingruntimes"},
        "argoproj.io": {"workflowtemplates", "clusterworkflowtemplates"},
        "workloads.x-k8s.io": {"clusterengineruntimeprofiles"},
        "apps.nvidia.com": {"nimcaches"},
    }
    found = {}
    for d in load(path):
        for rule in d.get("rules", []) if d["kind"] == "ClusterRole" else []:
            expect(rule["verbs"] == ["get", "list", "watch"], str(rule))
            for group in rule["apiGroups"]:
                found.setdefault(group, set()).update(rule["resources"])
    expect(found == wanted, "may read %s" % found)
    expect(sum(map(len, found.values())) == KINDS, "not %d kinds" % KINDS)
    box = only(load(path), "Deployment")[0]["spec"]["template"]["spec"][
        "containers"][0]
    expect(environment(box)["GPUGATED_LIVE"] == "on", "nobody watches")


# Groups that the webhook configurations do not list, with the reason.
NOT_LISTED = {
    ("extensions", "*"): "Kubernetes has not served it since 1.22",
    ("gpugate.dev", "*"): "files, not objects",
}
LIMITS = {("", "ResourceQuota"), ("", "LimitRange"),
          ("scheduling.k8s.io", "PriorityClass")}


def kinds(path, table):
    listed = {(g, r) for _, hook in webhooks(load(path))
              for rule in hook["rules"] for g in rule["apiGroups"]
              for r in rule["resources"]}
    count = 0
    with open(table, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.startswith("kind ")]
    for row in rows:
        group, kind, what = row[1:4]
        group = "" if group == "-" else group
        if (group, "*") in NOT_LISTED or \
                (what == "other" and (group, kind) not in LIMITS):
            continue
        plural = kind.lower()
        plural = plural[:-1] + "ies" if plural.endswith("y") else \
            plural + ("es" if plural.endswith("s") else "s")
        expect((group, plural) in listed, "no rule for %s %s" % (group, kind))
        count += 1
    expect(count > 90, "only %d kinds" % count)
    # A Scale has a number and no pods: there is nothing to check.
    expect(not any(plural.endswith("/scale") for _, plural in listed),
           "a scale")


def metrics(alerts, dashboard, *sources):
    text = "".join(open(p, encoding="utf-8").read() for p in sources)
    known = set(re.findall(r'"(gpugate_[a-z_]+|process_[a-z_]+)', text))
    known |= {n + s for n in known for s in ("_bucket", "_sum", "_count")}
    known |= {"apiserver_admission_webhook_fail_open_count",
              "apiserver_admission_webhook_admission_duration_seconds_bucket"}
    used = set()
    for p in (alerts, dashboard):
        with open(p, encoding="utf-8") as f:
            used |= set(re.findall(
                r"\b((?:gpugate|apiserver|process)_[a-z_]+)(?=[{\[ )\\,])",
                f.read()))
        # The alert and the dashboard compare the number of kinds that were read with
        # the total.
        counted = re.findall(r"(\d+) - count by \(pod\) \(gpugate_cluster_obj"
                             r"|\(gpugate_cluster_objects[^)]*\) < (\d+)",
                             pathlib.Path(p).read_text(encoding="utf-8"))
        expect(["".join(n) for n in counted] == [str(KINDS)],
               "%s counts %s kinds" % (p, counted))
    expect(len(used) > 15, "only %s" % used)
    expect(used <= known, "no such metrics: %s" % sorted(used - known))
    wanted = {"GpugateAbsent", "GpugateFailOpen", "GpugateSlow",
              "GpugateDenyRatioJump", "GpugateCertificateExpires",
              "GpugatePolicyReloadFailed", "GpugateClusterStateStale",
              "GpugateClusterKindNotRead", "GpugateClusterListsAnew",
              "GpugateRulesNotRun", "GpugateReplicaNotReady",
              "GpugateCertificateFailed", "GpugateClientCaExpires",
              "GpugateClientCaFailed", "GpugateClientRefused",
              "GpugateNotJudged", "GpugateBreakGlass"}
    wanted_figures = {"gpugate_cluster_" + n for n in (
        "state_age_seconds", "relists_total", "objects")} | {
            "gpugate_ready", "gpugate_last_reload_successful"}
    with open(dashboard, encoding="utf-8") as f:
        shown = f.read()
    hidden = {n for n in wanted_figures if n not in shown}
    expect(not hidden, "not shown: %s" % hidden)
    names = {r["alert"] for g in load(alerts)[0]["groups"] for r in g["rules"]}
    expect(wanted <= names, "no alerts %s" % (wanted - names))


def flags(path, text):
    with open(text, encoding="utf-8") as f:
        known = set(re.findall(r"--[a-z][a-z-]*", f.read()))
    for d in only(load(path), "Deployment"):
        box = d["spec"]["template"]["spec"]["containers"][0]
        for arg in box["args"]:
            expect(arg.split("=")[0] in known, "gpugated has no " + arg)
        for name in environment(box):
            flag = "--" + name[9:].lower().replace("_", "-")
            expect(not name.startswith("GPUGATED_") or flag in known,
                   "gpugated has no " + flag)


def split(path, taken, left):
    parts = ([], [])
    for d in load(path):
        parts[d["apiVersion"].split("/")[0] in OPTIONAL_GROUPS].append(d)
    for part, out in zip(parts, (taken, left)):
        with open(out, "w", encoding="utf-8") as f:
            yaml.safe_dump_all(part, f)
    print(" ".join(sorted({d["kind"] for d in parts[1]})))


def policy(path, out):
    data = only(load(path), "ConfigMap")[0]["data"]
    with open(out, "w", encoding="utf-8") as f:
        f.write(data["policy.yaml"])


def pods(path, out):
    made = [dict(d["spec"]["template"], apiVersion="v1", kind="Pod")
            for d in only(load(path), "Deployment")]
    made += [d for d in only(load(path), "Pod")]
    for i, d in enumerate(made):
        d["metadata"] = {"name": "pod-%d" % i,
                         "labels": d["metadata"].get("labels", {})}
    with open(out, "w", encoding="utf-8") as f:
        yaml.safe_dump_all(made, f)


def main():
    {f.__name__: f for f in (same, every, defaults, reader, stateless, kinds,
                             metrics, flags, split, policy, pods)}[sys.argv[1]](
                                 *sys.argv[2:])
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))


main()
