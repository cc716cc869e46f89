# SPDX-License-Identifier: Apache-2.0
"""Defects that operators refuse or wait for, each with a near miss."""
from defects import computing, defect, near
from places import at, group_kind

__all__ = []
TOPOLOGY = "cloud.google.com/gke-tpu-topology"


# --- slices -------------------------------------------------------------------

@defect("tpu-slice-mismatch", "pod", "all")
def half_of_the_hosts(obj, pod):
    boxes = computing(obj, pod)
    job = {("batch", "Job"): pod[:-2],
           ("jobset.x-k8s.io", "JobSet"): pod[:-2]}.get(group_kind(obj))
    if not job or len(boxes) != 1 or \
            "google.com/tpu" not in str(at(obj, boxes[0])):
        return None
    (at(obj, pod[:-1]).get("metadata") or {}).pop("annotations", None)
    at(obj, boxes[0])["resources"] = {"limits": {"google.com/tpu": 4}}
    at(obj, job).update(parallelism=8, completions=8)
    at(obj, pod)["nodeSelector"] = {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        TOPOLOGY: "8x8"}
    return pod + ("nodeSelector", TOPOLOGY)


@near(half_of_the_hosts)
def all_hosts(obj, pod):
    at(obj, pod[:-2]).update(parallelism=16, completions=16)
