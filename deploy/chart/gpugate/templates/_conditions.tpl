{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/*
matchConditions, which select the requests that the API server sends to the
webhook: all of them must be true. The API server evaluates them. If one fails,
a webhook whose failurePolicy is Ignore is not called, so no user must be able to
make one fail or exceed the cost that the API server allows: conditions compare
sizes before texts, and are true for objects of unusual size.
*/}}

{{- define "gpugate.condition.common" -}}
# Mirror pods of static pods, which the kubelet creates.
- name: not-from-a-node
  expression: >-
    !has(request.userInfo.groups) ||
    !("system:nodes" in request.userInfo.groups)
# Repeats a part of namespaceSelector, which is often edited.
- name: not-in-a-system-namespace
  expression: >-
    !has(request.namespace) ||
    !(request.namespace in {{ append .Values.webhooks.excludedNamespaces .Release.Namespace | uniq | toJson }})
{{- with .Values.webhooks.extraMatchConditions }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* True for new or changed annotations that request devices from a container runtime. */}}
{{- define "gpugate.condition.newDevices" -}}
(has(object.metadata.annotations) && (object.metadata.annotations.size() > 64 ||
object.metadata.annotations.exists(k, k.size() <= 320 &&
k.matches("^((nvidia[.])?cdi[.]k8s[.]io|io[.]kubernetes[.]cri-o[.]Devices|devices[.]crio[.]io|((cdi-)?devices|mounts)[.](nri[.]io|noderesource[.]dev))(/|$)") &&
(!has(oldObject.metadata.annotations) || !(k in oldObject.metadata.annotations) ||
oldObject.metadata.annotations[k] != object.metadata.annotations[k]))))
{{- end }}

{{/*
An UPDATE that does not change spec can request devices only by annotations,
which some operators copy to their pods. Other such updates are not sent, because
operators write status and metadata often, some of them without a status
subresource. A Scale is never sent: it contains a number and no pods to check.
The API server creates its own priority classes before any webhook can run.
*/}}
{{- define "gpugate.condition.change" -}}
# Finalizers of objects that are being deleted must be removable.
- name: spec-changes
  expression: >-
    request.operation != "UPDATE" || oldObject == null ||
    !has(object.spec) || !has(oldObject.spec) ||
    object.spec != oldObject.spec ||
    {{- include "gpugate.condition.newDevices" . | trim | nindent 4 }}
- name: not-from-the-api-server
  expression: >-
    request.userInfo.username != "system:apiserver"
{{- end }}

{{/*
True for a Pod, or a pod template, that may use an accelerator. The condition is
wider than the rules: it is true for every object that a rule of the default
preset reports, unless the API server itself rejects the object. It looks for
  - any resource except cpu, memory and ephemeral storage (so also misspelled
    names), DRA claims, pod-level resources
  - annotations of schedulers that share GPUs, of CDI, NRI and CRI-O, and of
    gpugate
  - placement: a runtime class, node labels and taints except the common ones, a
    toleration without a key, a priority that its class does not give
  - hostPath volumes, volumes of huge pages
  - variables that select devices, and envFrom in a pod that selects its node
  - names of GPU software in images and in words of the command
  - many containers, tolerations, variables or similar items
*/}}
{{- define "gpugate.condition.gpu" -}}
(has(object.spec) && has(object.spec.jobTemplate) ? [object.spec.jobTemplate.spec.template] :
has(object.spec) && has(object.spec.template) ? [object.spec.template] :
has(object.template) ? [object.template] : [object]).exists(pod,
  (has(pod.metadata) && has(pod.metadata.annotations) &&
    (pod.metadata.annotations.size() > 64 ||
    pod.metadata.annotations.exists(k, k.size() > 320 || k.matches("(?i)gpu|nvidia|device|^cdi[.]k8s[.]io/|[.]nri[.]io|[.]noderesource[.]dev|^mps$")))) ||
  (has(pod.spec) && (
    has(pod.spec.resourceClaims) || has(pod.spec.resources) || has(pod.spec.runtimeClassName) ||
    (has(pod.spec.priority) && pod.spec.priority != (!has(pod.spec.priorityClassName) ? 0 :
      pod.spec.priorityClassName == "system-node-critical" ? 2000001000 :
      pod.spec.priorityClassName == "system-cluster-critical" ? 2000000000 : pod.spec.priority)) ||
    (has(pod.spec.nodeSelector) && (pod.spec.nodeSelector.size() > 32 ||
      pod.spec.nodeSelector.exists(k, !k.startsWith("kubernetes.io/") && !k.startsWith("topology.kubernetes.io/")))) ||
    (has(pod.spec.affinity) && has(pod.spec.affinity.nodeAffinity) &&
      has(pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution) &&
      (pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.size() > 16 ||
      pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.exists(t,
        has(t.matchExpressions) && (t.matchExpressions.size() > 32 || t.matchExpressions.exists(e,
          !e.key.startsWith("kubernetes.io/") && !e.key.startsWith("topology.kubernetes.io/")))))) ||
    (has(pod.spec.tolerations) && (pod.spec.tolerations.size() > 64 || pod.spec.tolerations.exists(t,
      !has(t.key) || t.key == "" ? !has(t.effect) || t.effect != "NoExecute" :
      !t.key.startsWith("node.kubernetes.io/") && !t.key.startsWith("node-role.kubernetes.io/")))) ||
    (has(pod.spec.volumes) && (pod.spec.volumes.size() > 256 || pod.spec.volumes.exists(v, has(v.hostPath) ||
      (has(v.emptyDir) && has(v.emptyDir.medium) && v.emptyDir.medium.startsWith("HugePages"))))) ||
    [(has(pod.spec.containers) ? pod.spec.containers : []) +
      (has(pod.spec.initContainers) ? pod.spec.initContainers : []) +
      (has(pod.spec.ephemeralContainers) ? pod.spec.ephemeralContainers : [])].exists(all,
      all.size() > 8 || all.exists(c,
        (has(c.resources) && (
          (has(c.resources.limits) && c.resources.limits.exists(k, !(k in ["cpu", "memory", "ephemeral-storage"]))) ||
          (has(c.resources.requests) && c.resources.requests.exists(k, !(k in ["cpu", "memory", "ephemeral-storage"]))))) ||
        (has(c.image) && (c.image.size() > 512 || c.image.matches(
          "(?i)nvidia|nvcr|gpu|cuda|rocm|pytorch|vllm|triton|text-generation|sglang|deepspeed"))) ||
        (has(c.env) && (c.env.size() > 64 || c.env.exists(e, e.name.size() > 128 ||
          e.name.contains("VISIBLE_DEVICES") || e.name.startsWith("NVIDIA_") || e.name == "NUM_SHARD"))) ||
        (has(c.envFrom) && (has(pod.spec.nodeName) ||
          (has(pod.spec.nodeSelector) && "kubernetes.io/hostname" in pod.spec.nodeSelector) ||
          (has(pod.spec.affinity) && has(pod.spec.affinity.nodeAffinity)))) ||
        [(has(c.command) ? c.command : []) + (has(c.args) ? c.args : [])].exists(words,
          words.size() > 32 || words.exists(w, w.size() > 512 || w.matches(
            "gpu|nvidia|rocm|dcgmi|deviceQuery|nvbandwidth|vectorAdd|_perf|trtllm|-tp|tensor.parallel|num.shard|nproc")))
  )))))
{{- end }}

{{/*
The metadata of an existing Pod changes often. Some annotations request devices
from the container runtime, and labels and annotations may be the source of
NVIDIA_VISIBLE_DEVICES: a container that is restarted reads their new values. In
its spec, a user may change the images and, while it is gated, its placement. An
UPDATE is sent only if one of these is new or has another value. A queue places a
Pod and removes its gate, so changes of images and placement do not count if the
user is a service account of kube-system or in policy.config.controllers.
*/}}
{{- define "gpugate.condition.podUpdate" -}}
- name: update-takes-devices
  expression: |-
    request.operation != "UPDATE" || (has(request.subResource) && request.subResource != "") ||
    (!request.userInfo.username.startsWith("system:serviceaccount:kube-system:") &&
      !(request.userInfo.username in {{ .Values.policy.config.controllers | default list | toJson }}) && (
      (has(object.spec.tolerations) ? object.spec.tolerations : []) !=
        (has(oldObject.spec.tolerations) ? oldObject.spec.tolerations : []) ||
      (has(object.spec.nodeSelector) ? object.spec.nodeSelector : {}) !=
        (has(oldObject.spec.nodeSelector) ? oldObject.spec.nodeSelector : {}) ||
      has(object.spec.affinity) != has(oldObject.spec.affinity) ||
      (has(object.spec.affinity) && object.spec.affinity != oldObject.spec.affinity) ||
      [[object.spec, oldObject.spec].map(s,
        (s.containers + (has(s.initContainers) ? s.initContainers : [])).map(c,
          has(c.image) ? c.image : ""))].exists(images, images[0] != images[1]))) ||
    {{- include "gpugate.condition.newDevices" . | trim | nindent 4 }} ||
    (((has(object.metadata.labels) ? object.metadata.labels : {}) !=
        (has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}) ||
      (has(object.metadata.annotations) ? object.metadata.annotations : {}) !=
        (has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})) &&
      [object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : []) +
        (has(object.spec.ephemeralContainers) ? object.spec.ephemeralContainers : [])].exists(all,
        all.size() > 64 || all.exists(c, has(c.env) && (c.env.size() > 256 ||
          c.env.exists(e, e.name == "NVIDIA_VISIBLE_DEVICES" &&
            (has(e.valueFrom) || (has(e.value) && e.value.contains("$("))))))))
{{- end }}

{{- define "gpugate.condition.mayUseGpu" -}}
- name: may-use-a-gpu
  expression: |-
    {{- include "gpugate.condition.gpu" . | nindent 4 }}
{{- end }}

{{- define "gpugate.condition.cannotUseGpu" -}}
- name: is-not-judged-anyway
  expression: |-
    {{- printf "!(%s)" (include "gpugate.condition.gpu" .) | nindent 4 }}
{{- end }}
