# SPDX-License-Identifier: Apache-2.0
"""Write an invented cluster state for the namespaces of given objects: some quotas
are full, others are free."""
from review import dump

# Rules that report only with a state, and do with this one.
NEEDS_STATE = {"quota-would-exceed", "quota-never-fits",
               "priority-class-unknown", "node-selector-unmatched",
               "gpu-count-exceeds-node", "quota-missing-cpu-memory"}


def made_up(kind, name, namespace=None, version="v1", **fields):
    meta = {"name": name, **fields.pop("metadata", {})}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def of_namespace(n, space):
    hard = {"requests.nvidia.com/gpu": str(n % 9)}
    if n % 3 == 0:
        hard["limits.memory"] = "1Ti"
    yield made_up("Namespace", space, metadata={
        "labels": {"tier": ["dev", "prod"][n % 2]}})
    yield made_up("ResourceQuota", "gpus", space, spec={"hard": hard}, status={
        "hard": hard, "used": {"requests.nvidia.com/gpu": str(n % 4)}})
    if n % 4 == 0:
        yield made_up("LimitRange", "limits", space, spec={"limits": [
            {"type": "Container", "default": {"nvidia.com/gpu": "1"},
             "max": {"nvidia.com/gpu": "2"}}]})


def node(name):
    return made_up(
        "Node", name,
        metadata={"labels": {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
            "kubernetes.io/hostname": name}},
        spec={"taints": [{"key": "nvidia.com/gpu", "value": "present",
                          "effect": "NoSchedule"}]},
        status={"allocatable": {
            "cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "4"}})


POD = {"nodeSelector": {"amd.com/gpu.product-name": "AMD_Instinct_MI300X"},
       "hostIPC": True}


def runtimes(objects):
    """Yield a ClusterTrainingRuntime for each name in a `runtimeRef` of the
    objects. A `workflowTemplateRef` gets no object, so its template stays
    unknown."""
    named = set()
    for obj in objects:
        spec = obj.get("spec") if isinstance(obj.get("spec"), dict) else {}
        for field in ("runtimeRef", "workflowTemplateRef"):
            ref = spec.get(field)
            if isinstance(ref, dict) and isinstance(ref.get("name"), str) and \
                    ref["name"]:
                named.add((field, ref["name"]))
    for field, name in sorted(named):
        if field == "runtimeRef":
            yield made_up(
                "ClusterTrainingRuntime", name,
                version="trainer.kubeflow.org/v1alpha1",
                spec={"template": {"spec": {"replicatedJobs": [
                    {"name": "node", "template": {
                        "metadata": {"labels": {
                            "trainer.kubeflow.org/trainjob-ancestor-step":
                            "trainer"}},
                        "spec": {"template": {"spec": dict(POD, containers=[
                            {"name": "node", "image": "a:1"}])}}}}]}}})


def write_state(objects, path):
    metas = [o.get("metadata") for o in objects]
    spaces = {m["namespace"] for m in metas if isinstance(m, dict)
              and isinstance(m.get("namespace"), str) and m["namespace"]}
    items = [item for n, space in enumerate(sorted(spaces))
             for item in of_namespace(n, space)]
    items.append(made_up("PriorityClass", "gpu-batch", value=1000,
                         version="scheduling.k8s.io/v1"))
    items += runtimes(objects)
    items += [node("gpu-%d" % n) for n in range(3)]
    dump({"apiVersion": "gpugate.dev/v1", "kind": "ClusterSnapshot",
          "version": 1, "takenAt": "2026-01-31T08:00:00Z", "items": items},
         path)
