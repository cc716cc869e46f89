# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with operators on the objects of the operators' own unit tests.

usage: operator_tables.py GPUGATE WORK DIFFERENCES OPERATOR=SOURCE=ORACLE...

SOURCE is the folder of the operator's sources, ORACLE its program of
tests/oracle/operators. The unit tests of the operator run in a copy that
records each object that they pass to its validators. The oracle decides about each
recorded object, unless the API server rejects it before. gpugate knows the version
of the operator. 95 % of the rejected objects must have an error of some rule; an
accepted one must not have an error of the operator's rule. DIFFERENCES has the
format described in operators.py.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import operators

# Records objects as lines of JSON. Tests set only the fields of a runtime that
# the tested plugin reads; recordJob() adds the fields that its definition
# requires.
RECORDER = """package %s

import (
	"encoding/json"
	"os"
)

func recordCase(version, kind string, object any) {
	fields := map[string]any{}
	text, _ := json.Marshal(object)
	json.Unmarshal(text, &fields)
	delete(fields, "status")
	fields["apiVersion"], fields["kind"] = version, kind
	recordLine(fields)
}

func recordLine(fields map[string]any) {
	text, _ := json.Marshal(fields)
	file, _ := os.OpenFile(os.Getenv("GPUGATE_CASES"),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	defer file.Close()
	file.Write(append(text, '\\n'))
}
"""
TRAINER = """
func recordFields(object any) map[string]any {
	fields := map[string]any{}
	text, _ := json.Marshal(object)
	json.Unmarshal(text, &fields)
	return fields
}

func recordJob(policy, scheduling, template, labels, job any) {
	ml := recordFields(policy)
	spec := map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": recordFields(labels)},
		"spec": recordFields(template)}}
	if len(ml) > 0 {
		spec["mlPolicy"] = ml
	}
	if groups := recordFields(scheduling); len(groups) > 0 {
		spec["podGroupPolicy"] = groups
	}
	recordLine(map[string]any{"apiVersion": "v1", "kind": "List",
		"items": []any{map[string]any{
			"apiVersion": "trainer.kubeflow.org/v1alpha1",
			"kind": "ClusterTrainingRuntime", "spec": spec},
			recordFields(job)}})
}
"""
# The versions of the programs of tests/oracle/operators. None means that a
# policy cannot give the version of the operator.
VERSIONS = {"jobset": "0.12", "kai": "0.13", "kserve": "0.20", "kueue": "0.19",
            "kuberay": "1.6", "mpi": "0.8", "trainer": "2.3", "training": None,
            "volcano": "1.14"}
# Modules inside of an operator's module, which the module proxy serves alone.
INNER = {"volcano": "volcano.sh/apis=volcano.sh/apis@v1.14.0"}
PLUGINS = "pkg/runtime/framework/plugins/"


def of_plugin(name, info, job):
    return (f"{PLUGINS}{name}/{name}.go", r"\) Validate\(",
            f"if {info} != nil {{ recordJob({info}.RuntimePolicy.MLPolicySource, "
            f"{info}.RuntimePolicy.PodGroupPolicy, "
            f"{info}.TemplateSpec.ObjApply, {info}.Annotations, {job}) }}")


def recording(path, function, version, kind, argument):
    """Return a row of TABLES for a function whose argument is an object."""
    return (path, function, f'recordCase("{version}", "{kind}", {argument})')


def of_training(folder, name, kind, argument="newJob"):
    return recording(f"pkg/webhooks/{folder}/{name}_webhook.go",
                     rf"^func validate{kind}\(", "kubeflow.org/v1", kind,
                     argument)


def of_ray(kind, argument, fields):
    return ("controllers/ray/utils/validation.go",
            rf"^func Validate{kind}\(",
            f'recordCase("ray.io/v1", "{argument}", {fields})')


def of_kueue(name, function, version, kind, argument):
    return recording(f"pkg/controller/jobs/{name}_webhook.go", function, version,
                     kind, argument)


def of_volcano(name, function, group, kind, argument):
    return recording(f"pkg/webhooks/admission/{name}.go",
                     rf"^func {function}\(", group, kind, argument)


# Additional code of the recorder, and for each validator its file, the start of
# its function and the statement that records its argument.
TABLES = {
    "kserve": ("", [
        ("pkg/apis/serving/v1beta1/inference_service_validation.go",
         r"^func validateInferenceService\(",
         'recordCase("serving.kserve.io/v1beta1", "InferenceService", isvc)'),
        ("pkg/apis/serving/v1alpha1/llm_inference_service_validation.go",
         r"\) validate\(", 'recordCase("serving.kserve.io/v1alpha1", '
         '"LLMInferenceService", llmSvc)'),
        ("pkg/apis/serving/v1alpha2/llm_inference_service_validation.go",
         r"\) validate\(", 'recordCase("serving.kserve.io/v1alpha2", '
         '"LLMInferenceService", llmSvc)')]),
    "kai": ("", [
        ("pkg/binder/plugins/gpusharing/gpu-request/gpu_request_validator.go",
         r"^func ValidateGpuRequests\(", 'recordCase("v1", "Pod", pod)'),
        ("pkg/apis/scheduling/v2alpha2/podgroup_webhook.go",
         r"^func validateSubGroups\(",
         'recordCase("scheduling.run.ai/v2alpha2", "PodGroup", '
         'map[string]any{"spec": map[string]any{"subGroups": subGroups}})')]),
    "kuberay": ("", [
        of_ray("RayClusterSpec", "RayCluster", 'map[string]any{"metadata": '
               'map[string]any{"annotations": annotations}, "spec": spec}'),
        of_ray("RayJobSpec", "RayJob", "rayJob"),
        of_ray("RayServiceSpec", "RayService", "rayService"),
        of_ray("RayCronJobSpec", "RayCronJob", "rayCronJob")]),
    "jobset": ("", [recording(
        "pkg/webhooks/jobset_webhook.go", r"\) ValidateCreate\(",
        "jobset.x-k8s.io/v1alpha2", "JobSet", "js")]),
    "mpi": ("", [recording(
        "pkg/apis/kubeflow/validation/validation.go", r"^func ValidateMPIJob\(",
        "kubeflow.org/v2beta1", "MPIJob", "job")]),
    "training": ("", [
        of_training("paddlepaddle", "paddlepaddle", "PaddleJob"),
        of_training("tensorflow", "tfjob", "TFJob"),
        of_training("xgboost", "xgboostjob", "XGBoostJob"),
        of_training("pytorch", "pytorchjob", "PyTorchJob"),
        of_training("jax", "jaxjob", "JAXJob", "job")]),
    "volcano": ("", [
        of_volcano("jobs/validate/admit_job", "validateJobCreate",
                   "batch.volcano.sh/v1alpha1", "Job", "job"),
        of_volcano("cronjobs/validate/admit_cronjob", "validateCronJobCreate",
                   "batch.volcano.sh/v1alpha1", "CronJob", "cronjob"),
        of_volcano("queues/validate/validate_queue", "validateQueue",
                   "scheduling.volcano.sh/v1beta1", "Queue", "queue"),
        of_volcano("podgroups/validate/validate_podgroup", "validatePodGroup",
                   "scheduling.volcano.sh/v1beta1", "PodGroup", "pg")]),
    "kueue": ("", [
        recording("pkg/webhooks/resourceflavor_webhook.go",
                  r"^func ValidateResourceFlavor\(",
                  "kueue.x-k8s.io/v1beta2", "ResourceFlavor", "rf"),
        recording("pkg/webhooks/cohort_webhook.go", r"^func validateCohort\(",
                  "kueue.x-k8s.io/v1beta2", "Cohort", "cohort"),
        recording("pkg/webhooks/clusterqueue_webhook.go",
                  r"^func ValidateClusterQueue\(",
                  "kueue.x-k8s.io/v1beta2", "ClusterQueue", "cq"),
        of_kueue("job/job", r"\) ValidateCreate\(", "batch/v1", "Job", "obj"),
        of_kueue("pod/pod", r"\) ValidateCreate\(", "v1", "Pod", "obj"),
        of_kueue("deployment/deployment", r"\) ValidateCreate\(", "apps/v1",
                 "Deployment", "obj"),
        of_kueue("statefulset/statefulset", r"\) ValidateCreate\(", "apps/v1",
                 "StatefulSet", "stsObj"),
        of_kueue("jobset/jobset", r"\) ValidateCreate\(",
                 "jobset.x-k8s.io/v1alpha2", "JobSet", "obj"),
        of_kueue("leaderworkerset/leaderworkerset", r"\) ValidateCreate\(",
                 "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "obj"),
        of_kueue("raycluster/raycluster", r"\) ValidateCreate\(", "ray.io/v1",
                 "RayCluster", "obj"),
        of_kueue("rayjob/rayjob", r"\) ValidateCreate\(", "ray.io/v1",
                 "RayJob", "obj"),
        of_kueue("rayservice/rayservice", r"\) ValidateCreate\(", "ray.io/v1",
                 "RayService", "obj"),
        of_kueue("mpijob/mpijob", r"\) ValidateCreate\(",
                 "kubeflow.org/v2beta1", "MPIJob", "obj"),
        of_kueue("trainjob/trainjob", r"\) ValidateCreate\(",
                 "trainer.kubeflow.org/v1alpha1", "TrainJob", "obj")]),
    "trainer": (TRAINER, [
        of_plugin("flux", "runtimeInfo", "newJobObj"),
        of_plugin("jax", "runtimeInfo", "newObj"),
        of_plugin("jobset", "info", "newObj"),
        of_plugin("mpi", "runtimeInfo", "newJobObj"),
        of_plugin("torch", "runtimeInfo", "newObj"),
        of_plugin("volcano", "info", "newObj"),
        of_plugin("xgboost", "runtimeInfo", "newObj"),
        ("pkg/webhooks/trainingruntime_webhook.go",
         r"^func validateReplicatedJobs\(",
         'recordCase("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", '
         'map[string]any{"spec": map[string]any{"template": map[string]any{'
         '"spec": map[string]any{"replicatedJobs": rJobs}}}})')]),
}


def recording_sources(operator, source, work):
    """Copy the sources with recording validators; return the packages."""
    extra, validators = TABLES[operator]
    packages = {}
    shutil.copytree(source, work, copy_function=shutil.copyfile,
                    dirs_exist_ok=True)
    # The folders of the cache of modules are read-only.
    for folder, _, _ in os.walk(work):
        os.chmod(folder, 0o755)
    if operator in INNER:
        subprocess.run(["go", "mod", "edit", "-replace", INNER[operator]],
                       cwd=work, check=True)
        sums = os.path.join(operators.TESTS, "oracle", "operators", operator,
                            "go.sum")
        with open(os.path.join(work, "go.sum"), "a", encoding="utf-8") as out, \
                open(sums, encoding="utf-8") as more:
            out.write(more.read())
    for name, start, statement in validators:
        path = os.path.join(work, name)
        with open(path, encoding="utf-8") as text:
            lines = text.read().split("\n")
        at = next(n for n, line in enumerate(lines)
                  if line.startswith("func ") and re.search(start, line))
        while not lines[at].endswith("{"):
            at += 1
        lines.insert(at + 1, "\t" + statement)
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines))
        package = next(line for line in lines if line.startswith("package "))
        packages[os.path.dirname(name)] = package.split()[1]
    for folder, package in packages.items():
        with open(os.path.join(work, folder, "record_case.go"), "w",
                  encoding="utf-8") as out:
            out.write(RECORDER % package + extra)
    return ["./" + folder for folder in packages]


POD_TEMPLATES = ("template", "leaderTemplate", "workerTemplate",
                 "submitterPodTemplate")


def complete_pods(value):
    """Give pod templates the fields that the API server requires, where a test
    left them out because the tested function does not read them."""
    for key, part in (value.items() if isinstance(value, dict)
                      else enumerate(value)):
        if not isinstance(part, (dict, list)):
            continue
        if key in POD_TEMPLATES and "template" not in part.get("spec", {}):
            part.setdefault("spec", {}).setdefault("containers", [{}])
        if key in ("containers", "initContainers"):
            for i, container in enumerate(part):
                container.setdefault("name", f"{key}-{i}".lower())
                container.setdefault("image", "a:1")
        complete_pods(part)


def completed(obj, operator):
    """Give the object a name and the fields that a test left out because the
    tested function does not read them."""
    if obj["kind"] == "List":
        runtime, job = obj["items"]
        job = completed(dict(job, apiVersion=runtime["apiVersion"],
                             kind="TrainJob"), operator)
        ref = job.setdefault("spec", {}).setdefault("runtimeRef", {})
        ref["kind"] = runtime["kind"]
        ref["apiGroup"] = "trainer.kubeflow.org"
        runtime["metadata"] = {"name": ref.get("name") or "runtime"}
        ref["name"] = runtime["metadata"]["name"]
        return operators.list_of(runtime, job)
    meta = obj.setdefault("metadata", {})
    meta.pop("creationTimestamp", None)
    meta["name"] = meta.get("name") or "case"
    if operator == "kai" and obj["kind"] == "Pod":
        obj["spec"]["schedulerName"] = "kai-scheduler"
        obj["spec"].setdefault("containers", [{}])
    complete_pods(obj)
    return obj


def without_unset(value):
    """Return the value without fields that a Go structure writes although they
    are not set."""
    if isinstance(value, dict):
        kept = {k: without_unset(v) for k, v in value.items()
                if v is not None and v != ""}
        return {k: v for k, v in kept.items() if v != {} or value[k] == {}}
    if isinstance(value, list):
        return [without_unset(v) for v in value]
    return value


def recorded(operator, source, work):
    """Run the operator's unit tests; return the objects, each one once."""
    os.makedirs(work)
    cases = os.path.join(work, "cases")
    packages = recording_sources(operator, source, work)
    with open(os.path.join(work, "go.log"), "w", encoding="utf-8") as log:
        subprocess.run(["go", "test", "-count=1", "-vet=off"] + packages,
                       cwd=work, stdout=log, stderr=log, check=False,
                       env=dict(os.environ, GPUGATE_CASES=cases, GOWORK="off"))
    with open(cases, encoding="utf-8") as lines:
        made = [completed(without_unset(json.loads(line)), operator)
                for line in lines]
    return [json.loads(text) for text in dict.fromkeys(
        json.dumps(o, sort_keys=True) for o in made)]


def compare(gpugate, operator, source, oracle, work, differences):
    """Print the counts; return true if the check fails."""
    made = recorded(operator, source, work)
    objects = os.path.join(work, "objects")
    os.makedirs(objects)
    for i, obj in enumerate(made):
        with open(os.path.join(objects, f"{i}.json"), "w",
                  encoding="utf-8") as out:
            json.dump(obj, out)
    known = operators.read_differences(differences, operator)
    with open(os.path.join(work, "policy.yaml"), "w",
              encoding="utf-8") as out:
        policy = {"apiVersion": "gpugate.dev/v1", "kind": "Policy"}
        if VERSIONS[operator]:
            policy["operators"] = {operator: VERSIONS[operator]}
        json.dump(policy, out)
    found = operators.findings_of(gpugate, objects, out.name)
    rule = operators.OPERATORS[operator][0]
    bad = caught = good = 0
    wrong = []
    for i, answer in enumerate(operators.answers_of(oracle, made)):
        here = found[f"{i}.json"]
        errors = [f for f in here if f["severity"] == "error"]
        if answer == "accepted":
            good += 1
            wrong += [f"false: {i}.json {f['check']}: {f['message']}"
                      for f in errors if f["rule"] == rule]
        elif not (answer.startswith(("undecodable", "failed")) or
                  any(text in answer for text in known["missed"])):
            bad += 1
            caught += bool(errors)
            if not errors:
                warned = [f["check"] for f in here if f["rule"] == rule]
                wrong.append(f"missed: {i}.json {answer[:300]} {warned}")
    print(f"{operator}: {good} good, {bad} bad cases, found {caught} "
          f"({100 * caught / max(bad, 1):.1f} %)", *wrong, sep="\n")
    return caught < 0.95 * bad or any(t.startswith("false") for t in wrong)


def main(gpugate, work, differences, *tables):
    failed = False
    for table in tables:
        operator, source, oracle = table.split("=")
        failed |= compare(gpugate, operator, source, oracle,
                          os.path.join(work, operator), differences)
    sys.exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
