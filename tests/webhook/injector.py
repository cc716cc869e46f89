# SPDX-License-Identifier: Apache-2.0
"""A mutating webhook like those of service meshes: it adds a sidecar to labeled
Pods after gpugated was called, so that gpugated is called again."""
import base64
import json
import subprocess
import time

import review_server

LABEL = {"inject": "yes"}


def patch_of(pod, sidecar):
    if any(c["name"] == sidecar["name"] for c in pod["spec"]["containers"]):
        return []
    return [{"op": "add", "path": "/spec/containers/0", "value": sidecar}]


class Injector:
    def __init__(self, program, folder, sidecar):
        self.seen = []  # Pods in their order of arrival
        self.sidecar = sidecar
        self.certs = folder + "/injector"
        subprocess.run([program, "certs", "--dir", self.certs, "--dns",
                        "localhost", "--ip", "127.0.0.1"], check=True,
                       stdout=subprocess.DEVNULL)
        self.port = review_server.serve(self.certs + "/tls.crt",
                                        self.certs + "/tls.key", self.answer)

    def answer(self, _, request):
        self.seen.append(request["object"])
        patch = json.dumps(patch_of(request["object"], self.sidecar))
        return {"patchType": "JSONPatch",
                "patch": base64.b64encode(patch.encode()).decode()}

    def configuration(self):
        """Return a configuration whose name sorts after gpugate's, so that the
        API server calls it later."""
        with open(self.certs + "/ca.crt", "rb") as ca:
            bundle = base64.b64encode(ca.read()).decode()
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "z-injector"},
            "webhooks": [{
                "name": "sidecar.example.com",
                "clientConfig": {
                    "url": "https://127.0.0.1:%d/inject" % self.port,
                    "caBundle": bundle},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"],
                           "resources": ["pods"], "operations": ["CREATE"]}],
                "objectSelector": {"matchLabels": LABEL},
                "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 10}]}


def reinvocation(say, admin, hook, pod):
    """Test another webhook that adds a GPU container after gpugated, which is called
    again and patches that container as well; earlier patches stay."""
    sidecar = dict(pod()["spec"]["containers"][0], name="sidecar")
    injector = Injector(hook.program, hook.folder, sidecar)
    configuration = injector.configuration()
    say(admin.create(configuration)[0] == 201, "the injector's configuration")
    for _ in range(400):
        asked = hook.metric("gpugate_admission_requests_total",
                            webhook="mutate")
        status, made, _ = admin.create(pod("injected", metadata={
            "labels": LABEL}), dry_run=True)
        if injector.seen:
            break
        time.sleep(0.05)
    say(status == 201 and injector.seen, "a sidecar is injected", made)
    say(hook.metric("gpugate_admission_requests_total", webhook="mutate") ==
        asked + 2, "we are asked twice")
    notes = admin.notes()
    rounds = [k for k in notes if k.startswith(
        "patch.webhook.admission.k8s.io/round_1") or k.startswith(
        "mutation.webhook.admission.k8s.io/round_1")]
    say(rounds, "the second time", sorted(notes))
    came = injector.seen[-1]["spec"] if injector.seen else {}
    spec = made.get("spec", {})
    say(spec.get("volumes") and spec["volumes"] == came.get("volumes"),
        "one volume for both", spec.get("volumes"))
    say(spec.get("tolerations") == came.get("tolerations"),
        "nothing twice", spec.get("tolerations"))
    mounts = [[m["mountPath"] for m in c.get("volumeMounts", [])]
              for c in spec.get("containers", [])]
    say(mounts == [["/dev/shm"], ["/dev/shm"]], "each its mount", mounts)
    admin.delete(configuration)
    for _ in range(400):
        made = admin.create(pod("alone", metadata={"labels": LABEL}),
                            dry_run=True)[1]
        if len(made.get("spec", {}).get("containers", [])) == 1:
            break
        time.sleep(0.05)
