{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/*
matchConditions: what is let through without asking us. Each must be true for
a call. They run in the API server, so every one is written such that a user
cannot make it fail or cost more than the API server allows (a condition that
fails skips a webhook whose failurePolicy is Ignore): sizes are looked at
before texts, and what is unusually large comes to us.
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

{{/* Annotations that ask a runtime for devices, new or with another value. */}}
{{- define "gpugate.condition.newDevices" -}}
(has(object.metadata.annotations) && (object.metadata.annotations.size() > 64 ||
object.metadata.annotations.exists(k, k.size() <= 320 &&
k.matches("^((nvidia[.])?cdi[.]k8s[.]io|io[.]kubernetes[.]cri-o[.]Devices|devices[.]crio[.]io|((cdi-)?devices|mounts)[.](nri[.]io|noderesource[.]dev))(/|$)") &&
(!has(oldObject.metadata.annotations) || !(k in oldObject.metadata.annotations) ||
oldObject.metadata.annotations[k] != object.metadata.annotations[k]))))
{{- end }}

{{/*
An UPDATE that leaves spec as it is asks for devices only by annotations, which
some operators copy to their pods: operators write status and metadata often,
some of them without a status subresource.
A Scale is not sent at all: it carries a number and no pods to judge. The API
server's own priority classes are made before any webhook can run.
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
May this pod, or the pods of this template, have to do with an accelerator?
Wider than the rules: whatever a rule of the default preset judges beyond
what the API server refuses by itself comes to us.
  - any resource besides cpu, memory and ephemeral storage (misspelt names
    and names of your own included), DRA claims, resources of the pod
  - annotations of schedulers that share GPUs, of CDI, NRI and CRI-O, and ours
  - placement: a runtime class, node labels and taints besides the common
    ones, a toleration of everything, priority as a number
  - hostPath volumes, volumes of huge pages
  - variables that choose devices, and those of other objects in a pod that
    names its node
  - images and words of the command that speak of GPUs
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
A Pod that exists changes its metadata often. Annotations ask for devices by
which runtimes hand them out: containers that start anew read them, and labels
and annotations that are the source of NVIDIA_VISIBLE_DEVICES. Of its spec a
user may change the images and, while it is gated, its placement. An UPDATE
comes to us only when one of these is new or has another value. Queues that
place a Pod and take its gate away need no webhook for it.
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
