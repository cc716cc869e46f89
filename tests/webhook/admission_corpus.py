# SPDX-License-Identifier: Apache-2.0
"""Create the corpus through a real kube-apiserver: the webhook must report the same
findings as `gpugate lint` under the same policy."""
import json
import os
import subprocess

from review import OF_SERVER

WANTED = {"PyTorchJob", "RayJob", "RayCluster", "RayService",
          "InferenceService", "MPIJob", "TFJob", "JobSet", "LeaderWorkerSet",
          "Job", "Deployment", "StatefulSet", "Pod", "CronJob"}
# Rules for which the policy of these tests has `action: deny`.
DENIES = {"job-backoff-unbounded", "shm-size-exceeds-memory-limit",
          "gpu-limit-missing",
          "quota-gpu-key-ineffective"}
DENIED = ("PyTorchJob", "RayJob", "batch.volcano.sh Job", "InferenceService")


def kind_of(obj):
    group = obj["apiVersion"].rpartition("/")[0]
    return group + " Job" if group == "batch.volcano.sh" else obj["kind"]


def ask_wrongly(obj):
    """Add a name if there is none, because lint does not know the one that the API
    server would generate; give Volcano Jobs, of which the corpus has no invalid one,
    a wrong GPU request."""
    obj.setdefault("metadata", {}).setdefault("name", "named")
    if kind_of(obj) == "batch.volcano.sh Job":
        pod = obj["spec"]["tasks"][0]["template"]["spec"]
        pod["containers"][0]["resources"] = {
            "limits": {"nvidia.com/gpu": 1}, "requests": {"nvidia.com/gpu": 2}}


def says(lines, findings):
    """Return true if each line of a denial is a complete finding of lint."""
    texts = [f"{f['rule']}: {f['message']}" for f in findings]
    return all(any(line == text or line.startswith(text + " — ")
                   for text in texts) for line in lines)


class Corpus:
    def __init__(self, build, folder, admin):
        self.build, self.folder, self.admin = build, folder, admin
        self.namespaces = {}  # created so far
        self.listed = {}

    def documents(self):
        corpus = os.environ.get("GPUGATE_SHARED", "../shared") + "/corpus"
        with open(corpus + "/API-SERVER.tsv", encoding="utf-8") as table:
            for line in table:
                row = line.rstrip("\n").split("\t")
                if len(row) > 5 and row[5] == "accepted" and row[3] in WANTED:
                    try:
                        yield row[0], self.read(corpus + "/" + row[0],
                                                int(row[1]))
                    except (ValueError, IndexError):
                        continue

    def read(self, path, number):
        out = subprocess.run([self.build + "/tests/tools/doc_dump", path],
                             capture_output=True, check=False).stdout.decode()
        lines = [l for l in out.splitlines() if not l.startswith("note ")]
        return json.loads(lines[number - 1])

    def lint(self, obj):
        """Return the findings, or None for placeholders and partial objects, which
        exist in files only."""
        path = self.folder + "/doc.json"
        with open(path, "w", encoding="utf-8") as out:
            json.dump(obj, out)
        out = subprocess.run(
            [self.build + "/gpugate", "lint", "--policy",
             self.folder + "/policy.yaml", "--isolated", "--show-all", "--format", "json",
             "--namespace", "default", path],
            capture_output=True, check=False)
        report = json.loads(out.stdout)
        summary = report["summary"]
        if summary["placeholders"] or summary["fragments"]:
            return None
        return report["findings"]

    def objects(self, change=lambda obj: None):
        for name, obj in self.documents():
            change(obj)
            space = (obj.get("metadata") or {}).get("namespace")
            # kube-system is never sent: see Webhook.configurations()
            if space == "kube-system" or not self.admin.path(obj):
                continue
            if space and space not in self.namespaces:
                self.namespaces[space] = self.admin.create({
                    "apiVersion": "v1", "kind": "Namespace",
                    "metadata": {"name": space}})
            findings = self.lint(obj)
            if findings is not None:
                yield name, obj, findings

    def rules(self):
        """Return the rules in the webhook's annotations of the last request."""
        notes = self.admin.notes()
        seen = set()
        for key in ("rules", "would-patch"):
            for half in ("mutate", "validate"):
                text = notes.get(f"{half}.gpugate.dev/{key}", "")
                seen |= set(text.split(",")) - {""}
        return seen

    def compare(self, name, findings):
        """Return true if lint and the webhook report the same rules; list the
        differences."""
        wanted, seen = {f["rule"] for f in findings}, self.rules()
        wanted -= set(OF_SERVER)
        if seen != wanted:
            self.list(f"only lint {sorted(wanted - seen)}, only webhook "
                      f"{sorted(seen - wanted)}", name)
        return seen == wanted

    def list(self, why, name):
        self.listed.setdefault(why, []).append(name)

    def audited(self):
        """Return the number of objects accepted in mode audit, and of those for which
        the webhook reports other rules than lint."""
        count = different = 0
        for name, obj, findings in self.objects():
            status, body, _ = self.admin.create(obj, dry_run=True)
            if status != 201:
                self.list("not accepted here: " + str(body.get("reason")),
                          name)
                continue
            count += 1
            different += not self.compare(name, findings)
        return count, different

    def denied(self):
        """Return the number of objects of each kind denied in mode enforce, and of
        those denied with other rules or messages than lint's."""
        counts, different = dict.fromkeys(DENIED, 0), 0
        for name, obj, findings in self.objects(ask_wrongly):
            if kind_of(obj) not in counts:
                continue
            status, body, _ = self.admin.create(obj, dry_run=True)
            text = body.get("message", "").partition("denied the request: ")[2]
            if status != 403 or not text:
                continue
            counts[kind_of(obj)] += 1
            # A message with line breaks continues on lines that begin with no
            # rule.
            lines = [l for l in text.split("\n")[:-1]
                     if l.partition(": ")[0] in self.rules_of(findings)]
            if not (self.compare(name, findings) and lines and
                    text.startswith(lines[0]) and says(lines, findings)):
                different += 1
                self.list(f"denied with {lines}", name)
        return counts, different

    def decided(self):
        """Return the numbers of objects by verdict (`differ`: lint and the API
        server disagree) in mode enforce. An object with only errors that have
        a safe fix may also be allowed: the webhook fixes a Pod at once, and
        the Pods of an owner when they are created."""
        counts = {"allowed": 0, "denied": 0, "differ": 0}
        for name, obj, findings in self.objects():
            status, body, _ = self.admin.create(obj, dry_run=True)
            denied = "denied the request: " in body.get("message", "")
            errors = [f for f in findings if f["rule"] not in OF_SERVER and
                      (f["severity"] == "error" or f["rule"] in DENIES)]
            left = [f for f in errors if not (f.get("fix") or {}).get("safe")]
            if status != 201 and not denied:
                self.list("not accepted here: " + str(body.get("reason")),
                          name)
            elif bool(errors) if denied else not left:
                counts["denied" if denied else "allowed"] += 1
            else:
                counts["differ"] += 1
                self.list(f"denied: {denied}, errors of lint: "
                          f"{sorted(self.rules_of(errors))}", name)
        return counts

    @staticmethod
    def rules_of(findings):
        return {f["rule"] for f in findings}

    def tell(self):
        for why, names in sorted(self.listed.items(),
                                 key=lambda r: -len(r[1])):
            print(f"  {len(names)}: {why}: {names[0]}")
