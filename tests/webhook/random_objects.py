# SPDX-License-Identifier: Apache-2.0
"""Change objects at random, determined by a seed, for checks that need many objects.

An object of the corpus or, without one, of the rules' examples is changed in
some places. Keys are dropped, renamed or taken from other objects. Items are
doubled. Values get another type, and quantities are written differently. A pod
is wrapped into another kind. Resources are moved between init containers,
sidecars and main ones. Variables, annotations and tolerations are added."""
import copy
import json
import pathlib
import subprocess

ROUNDS = 4
QUANTITIES = ["0", "1", 1, 8, "8", "8e0", "8000m", "0.008k", "-1", -1, "1.5",
              "500m", "", None, "8Ki", "9223372036854775807", 1e20, 0.5, "1E",
              "64Gi", "+2", " 2", "two", True, [], {}]
RESOURCES = ["nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.10gb",
             "nvidia.com/gpumem", "nvidia.com/gpus", "cpu", "memory",
             "rdma/ib", "deviceclass.resource.kubernetes.io/gpu.nvidia.com"]
VARIABLES = [("NVIDIA_VISIBLE_DEVICES", "all"), ("CUDA_VISIBLE_DEVICES", "7"),
             ("NVIDIA_VISIBLE_DEVICES", "GPU-4b1c"), ("NCCL_DEBUG", "INFO"),
             ("NVIDIA_VISIBLE_DEVICES", "void"), ("HF_TOKEN", "hf_abcdef")]
ANNOTATIONS = [("gpugate.dev/ignore", "shm-missing"), ("gpu-fraction", "0.5"),
               ("gpugate.dev/ignore", "all"), ("cdi.k8s.io/a", "x=all"),
               ("gpugate.dev/ignore-reason", "it is so"),
               ("gpugate.dev/ignore-until", "2031-01-31"),
               ("argocd.argoproj.io/tracking-id", "a:b/c:d/e")]
SCALARS = [None, True, False, 0, 1, -1, 2 ** 53, "", "x", "1", "Always", [],
           {}, ["a"], {"a": 1}, "ü\u2028\x7f", "a" * 300]
KEYS = ["containers", "Containers", "resources", "limits", "requests", "env",
        "volumes", "replicas", "template", "spec", "x", "a/b~c", ""]

# Objects that once got different answers.
KEPT = [
    {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue",
     "metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": [
         {"name": "a", "image": "registry.example.com/a:1", "resources": {
             "limits": {"nvidia.com/gpu": 1}}}]}}}},
]


# --- where things are ---------------------------------------------------------

def places(value, path=()):
    """Yield every path below a value."""
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield path + (key,)
        yield from places(child, path + (key,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def pods(value):
    """Yield every map with a list of containers."""
    if isinstance(value, dict) and isinstance(value.get("containers"), list):
        yield value
    for child in (value.values() if isinstance(value, dict) else
                  value if isinstance(value, list) else ()):
        yield from pods(child)


def boxes(value):
    for pod in pods(value):
        for name in ("containers", "initContainers"):
            for box in pod.get(name) or ():
                if isinstance(box, dict):
                    yield box


# --- changes: each takes the object and the dice, and returns an object ------------

def any_place(obj, dice, head=True):
    found = [p for p in places(obj) if head or len(p) > 1]
    found = [p for p in found if p not in (("kind",), ("apiVersion",))]
    return dice.choice(found) if found else None


def drop(obj, dice):
    path = any_place(obj, dice)
    if path:
        del at(obj, path[:-1])[path[-1]]
    return obj


def rename(obj, dice):
    path = any_place(obj, dice)
    if path and isinstance(path[-1], str):
        holder = at(obj, path[:-1])
        key = dice.choice([path[-1].upper(), path[-1] + "s", path[-1][:-1],
                           dice.choice(KEYS)])
        holder[key] = holder.pop(path[-1])
    return obj


def double(obj, dice):
    lists = [p for p in places(obj) if isinstance(at(obj, p), list)]
    items = at(obj, dice.choice(lists)) if lists else []
    if items and len(items) < 50:
        item = copy.deepcopy(dice.choice(items))
        if isinstance(item, dict) and "name" in item and dice.random() < .7:
            item["name"] = "%s-%d" % (item["name"], len(items))
        items.insert(dice.randrange(len(items) + 1), item)
    return obj


def retype(obj, dice):
    path = any_place(obj, dice)
    if path:
        at(obj, path[:-1])[path[-1]] = copy.deepcopy(dice.choice(SCALARS))
    return obj


def quantity(obj, dice):
    found = [p for p in places(obj) if len(p) > 1
             and p[-2] in ("limits", "requests", "hard")]
    counts = [p for p in places(obj) if p[-1] in
              ("replicas", "parallelism", "completions", "sizeLimit")]
    path = dice.choice(found + counts) if found + counts else None
    if path:
        at(obj, path[:-1])[path[-1]] = dice.choice(QUANTITIES)
    return obj


def resources(obj, dice):
    found = list(boxes(obj))
    if found:
        box = dice.choice(found)
        box["resources"] = {dice.choice(["limits", "requests"]): {
            dice.choice(RESOURCES): dice.choice(QUANTITIES)
            for _ in range(dice.randrange(4))}}
    return obj


def move(obj, dice):
    """Move a container to the init containers or back, or make it a sidecar."""
    found = [p for p in pods(obj) if p["containers"]]
    if not found:
        return obj
    pod = dice.choice(found)
    init = pod.get("initContainers")
    init = init if isinstance(init, list) else []
    if init and dice.random() < .4:
        pod["containers"].append(init.pop())
        return obj
    box = copy.deepcopy(dice.choice(pod["containers"]))
    if isinstance(box, dict):
        box["name"] = "moved"
        if dice.random() < .5:
            box["restartPolicy"] = dice.choice(["Always", "Never"])
        pod["initContainers"] = init + [box]
    return obj


def variable(obj, dice):
    found = list(boxes(obj))
    if found:
        name, value = dice.choice(VARIABLES)
        box = dice.choice(found)
        env = box.get("env") if isinstance(box.get("env"), list) else []
        box["env"] = env + [{"name": name, "value": value}]
    return obj


def annotate(obj, dice):
    metas = [at(obj, p) for p in places(obj) if p[-1] == "metadata"]
    metas = [m for m in metas if isinstance(m, dict)]
    if metas:
        meta = dice.choice(metas)
        if not isinstance(meta.get("annotations"), dict):
            meta["annotations"] = {}
        meta["annotations"].update([dice.choice(ANNOTATIONS)])
    return obj


def place(obj, dice):
    found = list(pods(obj))
    if found:
        key, value = dice.choice([
            ("tolerations", [{"operator": "Exists"}]),
            ("nodeSelector", {"nvidia.com/gpu.present": "true"}),
            ("hostIPC", True), ("priorityClassName", "gpu-batch"),
            ("restartPolicy", dice.choice(["Always", "Never", "never"])),
            ("volumes", [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]),
            ("runtimeClassName", "nvidia")])
        dice.choice(found)[key] = value
    return obj


def wrap(obj, dice):
    found = list(pods(obj))
    if not found:
        return obj
    spec = copy.deepcopy(dice.choice(found))
    meta = {"name": "wrapped", "namespace": "research"}
    labels = {"app": "wrapped"}
    pod = {"metadata": {"labels": labels}, "spec": spec}
    count = dice.choice([0, 1, 4, 1000])

    def made(version, kind, spec):
        return {"apiVersion": version, "kind": kind, "metadata": meta,
                "spec": spec}

    return dice.choice([
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec},
        made("apps/v1", "Deployment", {
            "replicas": count, "selector": {"matchLabels": labels},
            "template": pod}),
        made("batch/v1", "Job", {"parallelism": count, "template": pod}),
        made("batch/v1", "CronJob", {"schedule": "@daily", "jobTemplate": {
            "spec": {"template": pod}}}),
        made("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": pod},
            "Worker": {"replicas": count, "template": pod}}}),
        made("ray.io/v1", "RayCluster", {
            "headGroupSpec": {"rayStartParams": {}, "template": pod},
            "workerGroupSpecs": [{"groupName": "w", "replicas": count,
                                  "template": pod}]}),
        made("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [
            {"name": "w", "replicas": count,
             "template": {"spec": {"template": pod}}}]}),
        made("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {
            "replicas": count, "leaderWorkerTemplate": {
                "size": 2, "workerTemplate": pod}}),
        made("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [
            {"template": made("batch/v1", "Job", {"template": pod})}]}),
        made("example.com/v1", "Thing", {"roles": [
            {"replicas": count, "template": pod}]}),
        made("argoproj.io/v1alpha1", "Workflow", {
            "entrypoint": "a", "podSpecPatch": json.dumps(spec),
            "templates": [{"name": "a", "container": dict(
                spec["containers"][0]
                if spec["containers"] and
                isinstance(spec["containers"][0], dict) else {})}]}),
    ])


def shuffle(obj, dice):
    if isinstance(obj, dict):
        items = [(k, shuffle(v, dice)) for k, v in obj.items()]
        dice.shuffle(items)
        return dict(items)
    return [shuffle(v, dice) for v in obj] if isinstance(obj, list) else obj


CHANGES = [drop, drop, rename, double, retype, quantity, quantity, resources,
           resources, move, variable, annotate, place, wrap, wrap, shuffle]


def random_object(obj, others, dice):
    obj = copy.deepcopy(obj)
    for _ in range(dice.randrange(1, ROUNDS + 1)):
        if dice.random() < .1:  # a part of another object
            other = dice.choice(others)
            path = any_place(other, dice, head=False)
            if path and isinstance(path[0], str):
                obj[path[0]] = copy.deepcopy(at(other, path[:1]))
        obj = dice.choice(CHANGES)(obj, dice)
    return obj


# --- objects to change -------------------------------------------------------

def dumped(build, folder, suffixes=(".yaml", ".yml", ".json")):
    """Yield each document of the folder's files, its file and JSON."""
    files = [str(p) for p in sorted(pathlib.Path(folder).rglob("*"))
             if p.suffix in suffixes]
    for i in range(0, len(files), 200):
        out = subprocess.run([str(build / "tests/tools/doc_dump"),
                              *files[i:i + 200]], capture_output=True,
                             check=False).stdout.decode("utf-8", "replace")
        name = files[i]
        for line in out.split("\n"):
            if line.startswith("== "):
                name = line[3:]
            elif line.startswith("{"):
                yield name, line


def objects_of(line):
    """Yield the objects of a document: a List's items, or the object
    itself."""
    try:
        value = json.loads(line)
    except ValueError:  # a number that Python cannot read
        return
    items = value.get("items") if str(value.get("kind")).endswith("List") \
        else None
    for obj in items if isinstance(items, list) else [value]:
        if isinstance(obj, dict) and all(
                isinstance(obj.get(k), str) for k in ("kind", "apiVersion")):
            yield obj


def documents(build, folder):
    """Yield objects worth changing: of limited size, and without templates."""
    for _, line in dumped(build, folder):
        if "{{" not in line and len(line) <= 40000:
            yield from objects_of(line)


def random_objects(origin, number, dice):
    """Return random objects. Documents without a kind are left out, because
    neither the linter nor the webhook reads them as objects."""
    made = [random_object(dice.choice(origin), origin, dice)
            for _ in range(number)] + KEPT
    return [o for o in made if isinstance(o.get("kind"), str)
            and isinstance(o.get("apiVersion"), str)
            and not o["kind"].endswith("List")]
