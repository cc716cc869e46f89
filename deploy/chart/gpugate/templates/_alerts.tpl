{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/*
Groups of alert rules. All metrics are those of gpugated, except the counter of
the API server for objects that it admitted unchecked. `job` is the Service's
name, as Prometheus Operator sets it.
*/}}
{{- define "gpugate.alerts" -}}
{{- $job := printf "job=%q,namespace=%q" (include "gpugate.fullname" .) .Release.Namespace -}}
{{- $v := .Values.prometheusRule -}}
{{- $stale := $v.clusterStaleSeconds -}}
{{- if .Values.cluster.snapshotConfigMap }}{{ $stale = mul $v.clusterSnapshotDays 86400 }}{{ end -}}
groups:
- name: gpugate
  rules:
  - alert: GpugateAbsent
    expr: absent(gpugate_ready{ {{- $job -}} } == 1)
    for: 5m
    labels: {severity: critical}
    annotations:
      summary: No replica of gpugate is ready
      description: GPU workloads are not checked; with failurePolicy Fail, they cannot be created.
  - alert: GpugateReplicaDown
    expr: up{ {{- $job -}} } == 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} of gpugate is down
  - alert: GpugateReplicaNotReady
    expr: gpugate_ready{ {{- $job -}} } == 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} of gpugate is not ready
      description: /readyz and the log give the reason, usually that there is no valid certificate.
  # The API server's counter has no series before the first object, so
  # increase() does not see the first one.
  - alert: GpugateFailOpen
    expr: |-
      sum by (name, type) (increase(apiserver_admission_webhook_fail_open_count{name=~".+[.]gpugate[.]dev"}[10m])) > 0
      or sum by (name, type) (
        apiserver_admission_webhook_fail_open_count{name=~".+[.]gpugate[.]dev"}
        unless apiserver_admission_webhook_fail_open_count offset 10m
      ) > 0
    for: 1m
    labels: {severity: critical}
    annotations:
      summary: Objects passed {{ "{{ $labels.name }}" }} unchecked
      description: The API server received no answer in time and admitted {{ "{{ $value | humanize }}" }} objects in 10 minutes.
  - alert: GpugateSlow
    expr: histogram_quantile(0.99, sum by (webhook, le) (rate(gpugate_admission_duration_seconds_bucket{ {{- $job -}} }[5m]))) > {{ $v.slowSeconds }}
    for: 10m
    labels: {severity: warning}
    annotations:
      summary: p99 of {{ "{{ $labels.webhook }}" }} is above {{ $v.slowSeconds }} s
      description: It is {{ "{{ $value | humanizeDuration }}" }}. Above the timeout, objects are admitted unchecked.
  - alert: GpugateOverload
    expr: sum(rate(gpugate_overload_total{ {{- $job -}} }[5m])) > 0
    for: 5m
    labels: {severity: warning}
    annotations:
      summary: gpugate rejects reviews with 429
  - alert: GpugateDenyRatioJump
    expr: |-
      (
        sum(increase(gpugate_admission_requests_total{ {{- $job -}} ,webhook="validate",decision="deny",dry_run="false"}[1h]))
        / sum(increase(gpugate_admission_requests_total{ {{- $job -}} ,webhook="validate",dry_run="false"}[1h]))
      ) > {{ $v.denyRatioFactor }} * (
        sum(increase(gpugate_admission_requests_total{ {{- $job -}} ,webhook="validate",decision="deny",dry_run="false"}[1d] offset 1h))
        / sum(increase(gpugate_admission_requests_total{ {{- $job -}} ,webhook="validate",dry_run="false"}[1d] offset 1h))
      ) and sum(increase(gpugate_admission_requests_total{ {{- $job -}} ,webhook="validate",decision="deny",dry_run="false"}[1h])) > 20
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: gpugate denies many more objects than the day before
      description: Either the policy was changed, or a client retries again and again (gpugate_findings_total shows the rule).
  - alert: GpugateCertificateExpires
    expr: min by (pod) (gpugate_certificate_expiry_timestamp_seconds{ {{- $job -}} }) - time() < {{ $v.certificateDays }} * 86400
    for: 1h
    labels: {severity: critical}
    annotations:
      summary: gpugate's certificate expires in {{ "{{ $value | humanizeDuration }}" }}
      description: It is not renewed, or the new certificate has not reached {{ "{{ $labels.pod }}" }}.
  - alert: GpugateCertificateFailed
    expr: |-
      (
        min by (pod) (gpugate_last_reload_successful{ {{- $job -}} ,file="certificate"}) == 0
      ) or (
        sum by (pod) (increase(gpugate_certificate_reload_failures_total{ {{- $job -}} }[15m])) > 2
      )
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} of gpugate cannot renew its certificate
      description: The last good one is served until it expires. The log shows the problem of the new one, or of the API server's answer in mode selfManaged.
  - alert: GpugateClientCaExpires
    expr: min by (pod) (gpugate_client_ca_expiry_timestamp_seconds{ {{- $job -}} }) - time() < {{ $v.certificateDays }} * 86400
    for: 1h
    labels: {severity: critical}
    annotations:
      summary: The last of gpugate's client CAs expires in {{ "{{ $value | humanizeDuration }}" }}
      description: After that, every client is rejected, including the API server.
  - alert: GpugateClientCaFailed
    expr: min by (pod) (gpugate_last_reload_successful{ {{- $job -}} ,file="client_ca"}) == 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} of gpugate cannot use its client CAs
      description: The last good ones stay in use; certificates of a new CA are rejected. The log shows the problem of the file.
  - alert: GpugateClientRefused
    expr: sum(increase(gpugate_client_refused_total{ {{- $job -}} }[10m])) > 0
    for: 5m
    labels: {severity: warning}
    annotations:
      summary: gpugate rejects clients without the client certificate
      description: Either an API server sends no certificate, so that objects are admitted unchecked, or another client sends reviews.
  - alert: GpugatePolicyReloadFailed
    expr: |-
      (
        min by (pod) (gpugate_last_reload_successful{ {{- $job -}} ,file="policy"}) == 0
      ) or (
        count(count by (hash) (gpugate_policy_info{ {{- $job -}} })) > 1
      )
    for: 5m
    labels: {severity: warning}
    annotations:
      summary: A policy was rejected, or replicas use different policies
      description: The last good policy stays in use. The log has file, line and column.
  - alert: GpugateClusterStateStale
    expr: max by (pod) (gpugate_cluster_state_age_seconds{ {{- $job -}} }) > {{ $stale }}
    for: 10m
    labels: {severity: warning}
    annotations:
      summary: The cluster state of {{ "{{ $labels.pod }}" }} is {{ "{{ $value | humanizeDuration }}" }} old
      description: Rules about quotas, classes, queues and nodes are skipped after the policy's maxAge or, if it sets none, 15 minutes after the last answer of the API server.
  - alert: GpugateClusterKindNotRead
    expr: count by (pod) (gpugate_cluster_objects{ {{- $job -}} }) < 30
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} can read only {{ "{{ $value }}" }} of 30 kinds of the cluster
      description: Rules that need the others are skipped. The log names the kinds and the reasons; usually a ClusterRole lacks get, list and watch.
  - alert: GpugateClusterListsAnew
    expr: sum by (pod) (increase(gpugate_cluster_relists_total{ {{- $job -}} }[1h])) > 100
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} keeps losing its watches and lists objects again
      description: Each list makes the API server send all objects of the kind. The log shows why the watches end.
  - alert: GpugateRulesNotRun
    expr: sum by (rule) (increase(gpugate_rules_not_run{ {{- $job -}} }[30m])) > 0 and on () max(gpugate_cluster_state_age_seconds{ {{- $job -}} }) >= 0
    for: 30m
    labels: {severity: warning}
    annotations:
      summary: Rule {{ "{{ $labels.rule }}" }} is skipped because cluster state is missing
  - alert: GpugateNotJudged
    expr: sum by (reason) (increase(gpugate_not_judged_total{ {{- $job -}} ,reason!~"no_patch|infrastructure"}[1h])) > 0
    for: 15m
    labels: {severity: info}
    annotations:
      summary: gpugate receives requests that it does not check ({{ "{{ $labels.reason }}" }})
      description: A rule of a webhook configuration (webhooks.extraRules) is wider than it should be.
  - alert: GpugateBreakGlass
    expr: sum(increase(gpugate_break_glass_total{ {{- $job -}} }[1h])) > 0
    labels: {severity: info}
    annotations:
      summary: A break-glass ticket admitted an object that gpugate denies
      description: The audit log and gpugate's log show the user and the object (breakGlass).
  - alert: GpugateExemptionEnds
    expr: min by (name) (gpugate_exemption_expiry_timestamp_seconds{ {{- $job -}} }) - time() < 14 * 86400
    labels: {severity: info}
    annotations:
      summary: Exemption {{ "{{ $labels.name }}" }} expires in {{ "{{ $value | humanizeDuration }}" }}
{{- end }}
