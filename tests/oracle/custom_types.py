#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the rows of rules/kube/data/custom_types.tsv from
CustomResourceDefinitions.

usage: custom_types.py FOLDER... (each is searched for *.yaml)
       custom_types.py --missing TABLE FOLDER...

The table has each field that any of the files has. Its type is `any` if the
files differ. A word that any of them allows is allowed, and a field is
required if all of them require it and none has a default for it. Parts that
Kubernetes' own types define (pods, metadata) have any type here, because other
tables have them. The folders should have the definitions of all releases: `git
show TAG:PATH` for each tag of an operator.

With --missing, prints the fields and words of the definitions that the table
lacks, and the fields that the table alone requires. Fails if there are any, or
if no definition was found.
"""
import pathlib
import re
import sys

import yaml

DATA = pathlib.Path(__file__).resolve().parents[2] / "rules/kube/data"
KINDS = {
    "ray.io/v1": ["RayCluster", "RayJob", "RayService", "RayCronJob"],
    "leaderworkerset.x-k8s.io/v1": ["LeaderWorkerSet"],
    "disaggregatedset.x-k8s.io/v1": ["DisaggregatedSet"],
    "disaggregatedset.x-k8s.io/v1alpha1": ["DisaggregatedSet"],
    "jobset.x-k8s.io/v1alpha2": ["JobSet"],
    "trainer.kubeflow.org/v1alpha1": [
        "TrainJob", "TrainingRuntime", "ClusterTrainingRuntime",
        "OptimizationJob"],
    "kubeflow.org/v1": [
        "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "Notebook"],
    "kubeflow.org/v2beta1": ["MPIJob"],
    "kubeflow.org/v1beta1": [
        "Experiment", "Suggestion", "Trial", "Notebook", "Workspace",
        "WorkspaceKind"],
    "batch.volcano.sh/v1alpha1": ["Job", "CronJob"],
    "scheduling.volcano.sh/v1beta1": ["Queue", "PodGroup"],
    "flow.volcano.sh/v1alpha1": ["JobFlow", "JobTemplate"],
    "apps.nvidia.com/v1alpha1": [
        "NIMService", "NIMCache", "NIMPipeline", "NIMBuild", "NemoCustomizer",
        "NemoDatastore", "NemoEntitystore", "NemoEvaluator", "NemoGuardrail"],
    **{f"kueue.x-k8s.io/{version}": [
        "AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue",
        "MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig",
        "ResourceFlavor", "Topology", "Workload", "WorkloadPriorityClass"]
       for version in ("v1alpha1", "v1beta1", "v1beta2")},
    "scheduling.run.ai/v2": ["Queue"],
    "scheduling.run.ai/v2alpha2": ["PodGroup"],
    "serving.kserve.io/v1beta1": ["InferenceService"],
    "serving.kserve.io/v1alpha1": [
        "ServingRuntime", "ClusterServingRuntime", "InferenceGraph",
        "LLMInferenceService", "LLMInferenceServiceConfig"],
    "serving.kserve.io/v1alpha2": [
        "LLMInferenceService", "LLMInferenceServiceConfig"],
    "karpenter.sh/v1": ["NodePool", "NodeClaim"],
    "karpenter.sh/v1beta1": ["NodePool", "NodeClaim"],
    "karpenter.sh/v1alpha1": ["NodeOverlay"],
    "karpenter.sh/v1alpha5": ["Provisioner"],
    "karpenter.k8s.aws/v1": ["EC2NodeClass"],
    "karpenter.k8s.aws/v1beta1": ["EC2NodeClass"],
    "keda.sh/v1alpha1": ["ScaledObject", "ScaledJob"],
    "inference.networking.k8s.io/v1": ["InferencePool"],
    "inference.networking.x-k8s.io/v1alpha2": [
        "InferencePool", "InferenceModel", "InferenceObjective"],
    "gateway.networking.k8s.io/v1": ["HTTPRoute", "GRPCRoute", "Gateway"],
    "gateway.networking.k8s.io/v1beta1": ["HTTPRoute", "Gateway"],
    "serving.knative.dev/v1": ["Service", "Configuration", "Revision"],
    "argoproj.io/v1alpha1": [
        "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate",
        "CronWorkflow"],
    "sparkoperator.k8s.io/v1beta2": [
        "SparkApplication", "ScheduledSparkApplication"],
    "sparkoperator.k8s.io/v1alpha1": ["SparkConnect"],
    "grove.io/v1alpha1": ["PodCliqueSet", "PodClique"],
    **{f"workloads.x-k8s.io/{version}": [
        "RoleBasedGroup", "RoleBasedGroupSet", "ClusterEngineRuntimeProfile"]
       for version in ("v1alpha1", "v1alpha2")},
    "kaito.sh/v1alpha1": ["Workspace", "RAGEngine", "InferenceSet"],
    "kaito.sh/v1beta1": ["Workspace", "RAGEngine"],
    "orchestration.aibrix.ai/v1alpha1": [
        "StormService", "RoleSet", "PodSet", "KVCache", "RayClusterFleet",
        "RayClusterReplicaSet"],
    "model.aibrix.ai/v1alpha1": ["ModelAdapter"],
    "autoscaling.aibrix.ai/v1alpha1": ["PodAutoscaler"],
    "workload.serving.volcano.sh/v1alpha1": [
        "ModelServing", "ModelBooster", "AutoscalingPolicy",
        "AutoscalingPolicyBinding"],
    "networking.serving.volcano.sh/v1alpha1": ["ModelRoute", "ModelServer"],
    "mlops.seldon.io/v1alpha1": [
        "Model", "Pipeline", "Experiment", "Server", "ServerConfig",
        "SeldonRuntime", "SeldonConfig"],
}
# Kinds that a mutating webhook of their operator or of Kueue decodes to a Go
# type and encodes again. Fields that are missing get the zero value of the type
# before the API server validates the object, so that only those are required
# whose zero value it rejects.
MUTATED = {
    "kueue.x-k8s.io": ["ClusterQueue", "ResourceFlavor", "Workload"],
    "serving.kserve.io": ["InferenceService", "LLMInferenceService"],
    "trainer.kubeflow.org": ["TrainJob"],
    "sparkoperator.k8s.io": None,
    "kubeflow.org": None,
    "ray.io": None,
    "jobset.x-k8s.io": None,
    "leaderworkerset.x-k8s.io": None,
    "batch.volcano.sh": None,
    "scheduling.volcano.sh": None,
    "serving.knative.dev": None,
    "karpenter.k8s.aws": None,
    "karpenter.sh": ["Provisioner"],
    "grove.io": None,
    "workloads.x-k8s.io": None,
    "kaito.sh": None,
    "orchestration.aibrix.ai": None,
    "model.aibrix.ai": None,
    "autoscaling.aibrix.ai": None,
    "workload.serving.volcano.sh": None,
    "networking.serving.volcano.sh": None,
    "mlops.seldon.io": None,
}
# Kinds whose mutating webhook fills required fields in: type of a
# SparkApplication (api/v1beta2/defaults.go), cliques of a PodCliqueSet
# (internal/webhook/admission/pcs/defaulting/podcliqueset.go).
FILLED = {
    "sparkoperator.k8s.io": None,
    "grove.io": ["PodCliqueSet"],
}
# Inline fields of the operators before the Training Operator; the first release
# of mpi-operator's v2beta1 had cleanPodPolicy.
EARLIER = {
    ("kubeflow.org/v1", kind): [
        "activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy",
        "schedulingPolicy", "ttlSecondsAfterFinished"]
    for kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
}
EARLIER["kubeflow.org/v2beta1", "MPIJob"] = ["cleanPodPolicy"]
# Fields that are left out: only KubeRay 1.0 has serveConfig, and serveConfigV2
# replaced it there.
FORMER = {"ray.io/v1": ["serveConfig"]}
# The definitions that Argo Workflows installs up to 3.7 preserve all fields, and
# its types read numbers and booleans as strings (AnyString).
ANY_SCALARS = ["argoproj.io"]
LETTERS = {"string": "s", "integer": "i", "boolean": "b", "number": "f"}
OPTIONAL, REQUIRED, NEVER_ZERO = range(3)
PARTS_OF_PODS = (
    "selector", "affinity", "volumes", "tolerations", "env", "envFrom",
    "resources", "volumeMounts", "containers", "initContainers",
    "volumeClaimTemplates", "securityContext")


def read_table(path):
    """Return the table's types, as {name: {field: form}}, the type of each
    (group/version, kind), and the words of each enumeration."""
    types, kinds, words = {}, {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if cells[0] == "@":
                kinds[f"{cells[1]}/{cells[2]}", cells[3]] = cells[4]
            elif cells[0] == "=":
                words[cells[1]] = frozenset(cells[2:])
            elif not line.startswith("#") and len(cells) == 2:
                types[cells[0]] = dict(
                    one.split("=", 1) for one in cells[1].split())
    return types, kinds, words


NATIVE = {name: set(fields) for name, fields in
          read_table(DATA / "native_types.tsv")[0].items()}


class Form:
    """The type of a field.

    many is "" for one value, "[" for a list, "{" for a map. base is a letter or
    {name: (Form, need)}. words are the words of its enumeration, or None."""

    def __init__(self, base, many="", words=None):
        self.base, self.many, self.words = base, many, words

    def is_any(self):
        return self.base == "x"


ANY = Form("x")


def merge(a, b):
    """Returns the union of two forms."""
    if a.many != b.many:
        return ANY
    if isinstance(a.base, dict) and isinstance(b.base, dict):
        fields = {}
        for name in a.base.keys() | b.base.keys():
            one, other = a.base.get(name), b.base.get(name)
            fields[name] = (merge(one[0], other[0]), min(one[1], other[1])) \
                if one and other else ((one or other)[0], OPTIONAL)
        return Form(fields, a.many)
    if a.base != b.base:
        return ANY
    words = a.words | b.words if a.words and b.words else None
    return Form(a.base, a.many, words)


def is_native(name, fields):
    """True for metadata, status and the parts of a pod."""
    names = set(fields)
    spec = fields.get("spec", {}).get("properties", {})
    return (name in ("metadata", "status")
            or "containers" in fields and names <= NATIVE["PodSpec"]
            or "containers" in spec and set(spec) <= NATIVE["PodSpec"]
            or name in PARTS_OF_PODS and any(
                names <= one and 2 * len(names) >= len(one)
                or len(names & one) >= 10 for one in NATIVE.values()))


def extended(fields):
    """Returns the native type that the fields extend, or None."""
    if "containers" in fields:
        return "PodSpec"
    if fields.keys() >= {"image", "command", "args", "resources"} and \
            fields["image"].get("type") == "string" and \
            len(fields.keys() & NATIVE["Container"]) > 12:
        return "Container"
    return None


def rejects_zero(schema):
    """True if the zero value of the Go type is invalid: no items, no map, or
    an empty string, 0, or a struct with an invalid part."""
    if schema.get("nullable"):
        return False
    kind = schema.get("type")
    if kind == "string":
        words = schema.get("enum")
        return schema.get("minLength", 0) > 0 or bool(words) and "" not in words
    if kind in ("integer", "number"):
        return schema.get("minimum", 0) > 0
    if kind == "array" or schema.get("additionalProperties"):
        return True
    return any(need_of(schema, name) == NEVER_ZERO
               for name in schema.get("properties") or {})


def need_of(schema, name):
    one = schema["properties"][name] or {}
    if name not in schema.get("required", []) or "default" in one or \
            one.get("nullable"):
        return OPTIONAL
    return NEVER_ZERO if rejects_zero(one) else REQUIRED


def form_of_map(schema, fields):
    native = extended(fields)
    known = NATIVE[native] if native else set()
    forms = {name: (ANY, OPTIONAL) for name in known}
    for name, one in fields.items():
        if name not in known:
            forms[name] = (form_of(name, one or {}), need_of(schema, name))
    return Form(forms)


def form_of_item(name, schema, many):
    form = form_of(name, schema)
    return ANY if form.is_any() or form.many else \
        Form(form.base, many, form.words)


def form_of(name, schema):
    if schema.get("x-kubernetes-int-or-string"):
        return Form("o") if "pattern" not in schema else ANY
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return ANY
    kind = schema.get("type")
    if kind in LETTERS:
        words = schema.get("enum")
        return Form(LETTERS[kind], words=frozenset(words)
                    if words and kind == "string" else None)
    if kind == "array" and name == "env":
        return Form("TEnvVar", "[")
    if kind == "array":
        return form_of_item(name, schema.get("items", {}), "[")
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        return form_of_item(name, more, "{")
    fields = schema.get("properties")
    if not fields or more or is_native(name, fields):
        return ANY
    return form_of_map(schema, fields)


def read(folders):
    """Returns the form of each (group/version, kind), and the kinds of which
    some definitions list no fields, or none of spec."""
    kinds, loose = {}, set()
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.yaml")):
            text = path.read_text(errors="replace")
            if "CustomResourceDefinition" not in text or "{{" in text:
                continue
            for crd in yaml.load_all(text, yaml.CSafeLoader):
                if not crd or crd.get("kind") != "CustomResourceDefinition" or \
                        not crd.get("spec", {}).get("group"):
                    continue
                kind = crd["spec"]["names"]["kind"]
                for version in crd["spec"].get("versions") or []:
                    at = f"{crd['spec']['group']}/{version['name']}"
                    schema = version.get("schema", {}).get("openAPIV3Schema")
                    if schema and version.get("served") and \
                            kind in KINDS.get(at, []):
                        add_schema(kinds, loose, (at, kind), schema)
    return kinds, loose


def without_scalars(form):
    """Returns the form with any type instead of each string or number."""
    if not isinstance(form.base, dict):
        return ANY
    return Form({name: (without_scalars(one), need)
                 for name, (one, need) in form.base.items()}, form.many)


def without_words(form):
    """Returns the form without its enumerations."""
    if not isinstance(form.base, dict):
        return Form(form.base, form.many)
    return Form({name: (without_words(one), need)
                 for name, (one, need) in form.base.items()}, form.many)


def add_schema(kinds, loose, key, schema):
    one = form_of(key[1], schema)
    if key[0].split("/")[0] in ANY_SCALARS and not one.is_any():
        one = without_scalars(one)
    if one.is_any() or "spec" in one.base and one.base["spec"][0].is_any():
        loose.add(key)
    else:
        kinds[key] = merge(kinds[key], one) if key in kinds else one


def unused(name, names):
    """Returns the name with the next free number that does not end with 0,
    because 0 has a meaning at the end of a form."""
    own, n = name, 1
    while own in names:
        n += 2 if n % 10 == 9 else 1
        own = f"{name}{n}"
    return own


class Types:
    def __init__(self):
        self.rows, self.names, self.enums = [], {}, {}

    def add_words(self, key, words):
        if words not in self.enums:
            self.enums[words] = unused(key, self.enums.values())
        return self.enums[words]

    def add(self, name, kind, fields, least):
        """Returns the name of a type with these fields. A field with at least
        this need is required."""
        text = " ".join(f"{key}={self.form(key, kind, form, least)}"
                        f"{'+' if need >= least else ''}"
                        for key, (form, need) in sorted(fields.items()))
        if (name, text) not in self.names:
            own = unused(f"{name}.{kind}", self.names.values())
            self.names[name, text] = own
            self.rows.append(f"{own}\t{text}")
        return self.names[name, text]

    def form(self, key, kind, form, least):
        if isinstance(form.base, dict):
            return form.many + "T" + self.add(key, kind, form.base, least)
        words = f"({self.add_words(key, form.words)})" if form.words else ""
        return form.many + form.base + words


def parse_form(text):
    """Splits a form of the table into many, base, enumeration and need."""
    many, base, words, need = re.fullmatch(
        r"([\[{]*)(T[^(+]+|[a-z])(?:\((\w+)\))?(\+?)", text).groups()
    return many, base, words, bool(need)


def lacks(table, name, fields, path):
    """Yields the paths of fields and words that the type of this name lacks,
    and of fields that only the type requires."""
    types, words = table
    for key, text in types[name].items():
        if parse_form(text)[3] and (
                key not in fields or not fields[key][1]):
            yield f"{path}.{key} is not required"
    for key, (form, _) in sorted(fields.items()):
        at = f"{path}.{key}"
        if key not in types[name]:
            yield at
            continue
        _, base, enum, _ = parse_form(types[name][key])
        if isinstance(form.base, dict) and base[0] == "T":
            yield from lacks(table, base[1:], form.base, at)
        elif enum and not (form.words and form.words <= words[enum]):
            yield f"{at} has other words"


def compare(table, folders):
    types, kinds, words = read_table(table)
    found, n = [], 0
    for key, form in sorted(read(folders)[0].items()):
        n += 1
        found += lacks((types, words), kinds[key], form.base, key[1]) \
            if key in kinds else [key[1]]
    print("\n".join(found))
    sys.exit(bool(found) or not n)


def has_kind(groups, group, kind):
    return group in groups and (groups[group] is None or
                                kind in groups[group])


def least_need(at, kind, loose):
    """Returns the need from which a field is required."""
    group = at.split("/")[0]
    if (at, kind) in loose or has_kind(FILLED, group, kind):
        return NEVER_ZERO + 1
    return NEVER_ZERO if has_kind(MUTATED, group, kind) else REQUIRED


def main():
    if sys.argv[1:2] == ["--missing"]:
        compare(sys.argv[2], sys.argv[3:])
    types, kinds = Types(), []
    forms, loose = read(sys.argv[1:])
    for (at, kind), form in sorted(forms.items()):
        if (at, kind) in loose:
            form = without_words(form)
        fields = dict(form.base)
        for name in ("apiVersion", "kind"):
            fields[name] = (Form("s"), OPTIONAL)
        fields["metadata"] = fields["status"] = (ANY, OPTIONAL)
        for name in EARLIER.get((at, kind), []):
            fields["spec"][0].base.setdefault(name, (ANY, OPTIONAL))
        for name in FORMER.get(at, []):
            fields["spec"][0].base.pop(name, None)
        group, version = at.split("/")
        name = types.add(kind, re.sub(r"\W", "", group), fields,
                         least_need(at, kind, loose))
        kinds.append(f"@\t{group}\t{version}\t{kind}\t{name}" +
                     ("\tloose" if (at, kind) in loose else ""))
    words = ["\t".join(["=", name, *sorted(one)])
             for one, name in types.enums.items()]
    print("\n".join(kinds + words + types.rows))


main()
