# SPDX-License-Identifier: Apache-2.0
"""Write files that are expensive to check, and measure a command's peak memory.

usage: work.py make SHAPE N
       work.py peak MEGABYTES COMMAND...
"""
import resource
import subprocess
import sys

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec:\n"
CONTAINER = ("  - name: c%d\n    image: nvidia/cuda\n"
             "    resources: {limits: {nvidia.com/gpu: 1}}\n")


def containers(n):
    return "  containers:\n" + "".join(CONTAINER % i for i in range(n))


def duplicates(n):
    return CONFIG_MAP + "\n" + "  k: v\n" * n


def flow_duplicates(n):
    return CONFIG_MAP + " {" + "k: v, " * n + "}\n"


def volumes(n):
    mounts = "".join("    - {name: v%d, mountPath: /dev/shm}\n" % i
                     for i in range(n))
    return (POD % 0 + "  volumes:\n" +
            "".join("  - {name: v%d, emptyDir: {medium: Memory}}\n" % i
                    for i in range(n)) +
            containers(1) + "    volumeMounts:\n" + mounts)


def pods(n):
    return "".join("---\n" + POD % i + containers(1) for i in range(n))


def comments(n):
    return "".join("---\n" + POD % i + "  # gpugate: ignore[bare-gpu-pod] x\n" +
                   containers(1) for i in range(n))


def classes(n):
    return "".join(
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\n"
        "metadata: {name: a-%d-class}\n---\n"
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
        "metadata: {name: c%d, namespace: ml}\nspec:\n  devices:\n"
        "    requests:\n    - name: r\n"
        "      exactly: {deviceClassName: a-%d-clas}\n" % (i, i, i)
        for i in range(n))


def priorities(n):
    pod = ("---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec:\n"
           "  priorityClassName: b-%d-clas\n"
           "  containers: [{name: c, image: a, "
           "resources: {limits: {nvidia.com/gpu: 1}}}]\n")
    return "".join(
        "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
        "metadata: {name: a-%d-class}\nvalue: 5\n" % i + pod % (i, i)
        for i in range(n))


def jobs(n):
    return ("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
            "metadata: {name: a, namespace: ml}\nspec:\n  replicatedJobs:\n"
            + "".join("  - {name: j%d, template: {}}\n" % i
                      for i in range(n)))


def subgroups(n):
    return ("apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
            "metadata: {name: a, namespace: ml}\nspec:\n  subGroups:\n"
            + "".join("  - {name: s%d, minMember: 1}\n" % i
                      for i in range(n)))


# Return an InferencePool that selects no pod, and n pods with two containers,
# so that no ports are compared.
def servers(n):
    return ("apiVersion: inference.networking.k8s.io/v1\n"
            "kind: InferencePool\nmetadata: {name: a, namespace: ml}\n"
            "spec: {selector: {matchLabels: {app: none}}}\n"
            + "".join("---\n" + POD % i + containers(2) for i in range(n)))


def items(n):
    item = ("- apiVersion: v1\n  kind: Pod\n  metadata: {name: p%d}\n"
            "  spec: {containers: [{name: c, image: a, "
            "resources: {limits: {nvidia.com/gpu: 1}}}]}\n")
    return ("apiVersion: v1\nkind: List\nitems:\n"
            "# gpugate: ignore[bare-gpu-pod] x\n" +
            "".join(item % i for i in range(n)))


SHAPES = {
    "duplicates": duplicates,
    "flow-duplicates": flow_duplicates,
    "containers": lambda n: POD % 0 + containers(n),
    "volumes": volumes,
    "pods": pods,
    "comments": comments,
    "items": items,
    "jobs": jobs,
    "servers": servers,
    "subgroups": subgroups,
    "classes": classes,
    "priorities": priorities,
}


def peak(megabytes, command):
    subprocess.run(command, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{used} MB at its peak", file=sys.stderr)
    return 0 if used <= megabytes else 1


if __name__ == "__main__":
    if sys.argv[1] == "make":
        sys.stdout.write(SHAPES[sys.argv[2]](int(sys.argv[3])))
    else:
        sys.exit(peak(int(sys.argv[2]), sys.argv[3:]))
