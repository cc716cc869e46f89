# SPDX-License-Identifier: Apache-2.0
"""Tests of the facts that the live state finds out about a cluster's software (device
plugin, Karpenter). Run by live.py."""
from live_case import check, three


def test_own_software(c):
    """Check that NVIDIA's device plugin and Karpenter are kept, from the list
    and from events, and no other DaemonSet or Deployment."""
    three(c)

    def workload(plural, name, container):
        c.server.put(plural, name, "kube-system", spec={"template": {"spec": {"containers": [container]}}})
    plugin = {"name": "nvidia-device-plugin-ctr", "args": ["--device-list-strategy=envvar"],
              "env": [{"name": "TOKEN", "value": "s3cret"}]}
    workload("daemonsets", "plugin", plugin)
    workload("daemonsets", "other", {"name": "a", "args": ["s3cret"]})

    def count(s, plural):
        return s["counts"].get(plural + ".apps")
    c.run().until("the plugin", lambda s: count(s, "daemonsets") == 1)
    workload("daemonsets", "second", {**plugin, "env": []})
    workload("deployments", "karpenter", {"name": "controller", "image": "karpenter:1.12.0"})
    c.until("by events", lambda s: count(s, "daemonsets") == 2 and count(s, "deployments") == 1)
    c.ask("write " + c.dir + "/now")
    with open(c.dir + "/now", encoding="utf-8") as f:
        text = f.read()
    check("what is kept", text.count("--device-list-strategy=envvar") == 2 and "karpenter:1.12.0" in text and
          "s3cret" not in text, text)
    asked = {q.get("labelSelector") for _, plural, _, q, _ in c.server.requests if plural == "deployments"}
    check("controllers alone are asked for", asked == {
        "app.kubernetes.io/name in (jobset,karpenter,kserve,kserve-controller-manager,kuberay,"
        "kuberay-operator,kueue,lws,trainer)"}, asked)
    workload("daemonsets", "second", {"name": "a"})
    c.server.remove("daemonsets", "plugin", "kube-system")
    c.until("changed, and gone", lambda s: count(s, "daemonsets") == 0)
