# SPDX-License-Identifier: Apache-2.0
"""Check that quotas in files and in a snapshot lead to the same findings."""
import json
import subprocess
import sys

gpugate, corpus, tmp = sys.argv[1:]
# The policy makes the corpus one cluster, although its folders contain the same
# objects.
with open(tmp + "/policy.yaml", "w", encoding="utf-8") as out:
    out.write("apiVersion: gpugate.dev/v1\nkind: Policy\n"
              "paths: [{glob: \"**\", set: all}]\n")


def run(*arguments):
    """Return standard output as JSON. The exit status does not matter, because
    some files of the corpus cannot be read."""
    done = subprocess.run([gpugate, *arguments], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{arguments}: nothing printed: {done.stderr}")
    return json.loads(done.stdout)


def lint(*arguments):
    report = run("lint", "--config", tmp + "/policy.yaml", "--select", "quota", "--ignore",
                 "namespace-without-gpu-quota,quota-scope-hides-gpu",
                 "--fail-on", "never", "--no-ignore-vcs", "--format", "json",
                 *arguments)
    found = []
    for f in report["findings"]:
        if f["file"].startswith(tmp) or f["object"]["kind"] in (
                "ResourceQuota", "LimitRange"):
            continue
        f.pop("related", None)
        f["document"] = 0
        found.append(json.dumps(f, sort_keys=True))
    return found


rows = run("quota", "--config", tmp + "/policy.yaml", "--namespace", "team", "--no-ignore-vcs",
           "--format", "json", corpus)["rows"]
quotas = {}
for i, row in enumerate(rows):
    quota = quotas.setdefault(row["namespace"], {
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "made-up", "namespace": row["namespace"]},
        "spec": {"hard": {}}})
    # Some quotas have room, some do not. Some also limit memory or have a
    # scope.
    quota["spec"]["hard"][f"requests.{row['resource']}"] = str(i % 5)
    if i % 7 == 0:
        quota["spec"]["hard"]["limits.memory"] = "1Ti"
    if i % 11 == 0:
        quota["spec"]["scopes"] = ["NotBestEffort"]
quotas.pop("", None)
with open(f"{tmp}/quotas.json", "w", encoding="utf-8") as out:
    json.dump({"apiVersion": "v1", "kind": "List",
               "items": list(quotas.values())}, out)
with open(f"{tmp}/state.json", "w", encoding="utf-8") as out:
    json.dump({"apiVersion": "gpugate.dev/v1", "kind": "ClusterSnapshot",
               "version": 1, "takenAt": "2026-01-31T08:00:00Z",
               "items": list(quotas.values())}, out)
files = lint("--namespace", "team", corpus, f"{tmp}/quotas.json")
state = lint("--namespace", "team", "--cluster", f"{tmp}/state.json", corpus)
only_files = sorted(set(files) - set(state))
only_state = sorted(set(state) - set(files))
for what, items in (("files", only_files), ("state", only_state)):
    for item in items[:5]:
        print(f"only with {what}: {item}", file=sys.stderr)
rules = sorted({json.loads(f)["rule"] for f in files})
print(f"cluster: {len(quotas)} quotas, {len(files)} findings of "
      f"{len(rules)} rules ({', '.join(rules)})")
if only_files or only_state or len(files) < 50:
    sys.exit(1)
