{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/*
Groups of alert rules. Figures are gpugated's own, but for the one of the API
server that counts what passed unchecked. `job` is the Service's name, as
Prometheus Operator sets it.
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
      description: GPU workloads are not checked, or with failurePolicy Fail cannot be created.
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
      description: /readyz and the log say why; mostly there is no valid certificate.
  # The API server's counter begins with the first object: there is nothing
  # that it could have increased from.
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
      description: The API server could not get an answer in time and let {{ "{{ $value | humanize }}" }} objects through in 10 minutes.
  - alert: GpugateSlow
    expr: histogram_quantile(0.99, sum by (webhook, le) (rate(gpugate_admission_duration_seconds_bucket{ {{- $job -}} }[5m]))) > {{ $v.slowSeconds }}
    for: 10m
    labels: {severity: warning}
    annotations:
      summary: p99 of {{ "{{ $labels.webhook }}" }} is above half the time-out
      description: It is {{ "{{ $value | humanizeDuration }}" }}. Beyond the time-out objects pass unchecked.
  - alert: GpugateOverload
    expr: sum(rate(gpugate_overload_total{ {{- $job -}} }[5m])) > 0
    for: 5m
    labels: {severity: warning}
    annotations:
      summary: gpugate turns reviews away with 429
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
      summary: gpugate denies much more than the day before
      description: A policy that was just changed, or a client that tries again and again (gpugate_findings_total says which rule).
  - alert: GpugateCertificateExpires
    expr: min by (pod) (gpugate_certificate_expiry_timestamp_seconds{ {{- $job -}} }) - time() < {{ $v.certificateDays }} * 86400
    for: 1h
    labels: {severity: critical}
    annotations:
      summary: gpugate's certificate ends in {{ "{{ $value | humanizeDuration }}" }}
      description: Its renewal does not work, or what renewed it has not reached {{ "{{ $labels.pod }}" }}.
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
      description: The last good one is served until it ends. The log says what is wrong with the new one, or with the API server's answer in mode selfManaged.
  - alert: GpugateClientCaExpires
    expr: min by (pod) (gpugate_client_ca_expiry_timestamp_seconds{ {{- $job -}} }) - time() < {{ $v.certificateDays }} * 86400
    for: 1h
    labels: {severity: critical}
    annotations:
      summary: The last of gpugate's client CAs ends in {{ "{{ $value | humanizeDuration }}" }}
      description: Then every caller is refused, the API server too.
  - alert: GpugateClientCaFailed
    expr: min by (pod) (gpugate_last_reload_successful{ {{- $job -}} ,file="client_ca"}) == 0
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} of gpugate does not take its client CAs
      description: The last good ones count; a certificate of a new CA is refused. The log says what is wrong with the file.
  - alert: GpugateClientRefused
    expr: sum(increase(gpugate_client_refused_total{ {{- $job -}} }[10m])) > 0
    for: 5m
    labels: {severity: warning}
    annotations:
      summary: gpugate refuses callers that do not show the client certificate
      description: An API server that does not show its certificate, which lets objects pass unchecked, or somebody else who asks.
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
      summary: A policy was not taken, or replicas follow different ones
      description: The last good policy is in force. The log says file, line and column.
  - alert: GpugateClusterStateStale
    expr: max by (pod) (gpugate_cluster_state_age_seconds{ {{- $job -}} }) > {{ $stale }}
    for: 10m
    labels: {severity: warning}
    annotations:
      summary: The cluster state of {{ "{{ $labels.pod }}" }} is {{ "{{ $value | humanizeDuration }}" }} old
      description: Rules about quotas, classes, queues and nodes are not run beyond the policy's maxAge; where it names none, 15 minutes after the API server was last heard.
  - alert: GpugateClusterKindNotRead
    expr: count by (pod) (gpugate_cluster_objects{ {{- $job -}} }) < 29
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} can read only {{ "{{ $value }}" }} of 29 kinds of the cluster
      description: Rules that need the others are not run. Its log says which and why; mostly a ClusterRole lacks get, list and watch.
  - alert: GpugateClusterListsAnew
    expr: sum by (pod) (increase(gpugate_cluster_relists_total{ {{- $job -}} }[1h])) > 100
    for: 15m
    labels: {severity: warning}
    annotations:
      summary: Replica {{ "{{ $labels.pod }}" }} loses its watches and lists objects anew all the time
      description: Each list costs the API server as much as all objects of its kind. Its log says what ends the watches.
  - alert: GpugateRulesNotRun
    expr: sum by (rule) (increase(gpugate_rules_not_run{ {{- $job -}} }[30m])) > 0 and on () max(gpugate_cluster_state_age_seconds{ {{- $job -}} }) >= 0
    for: 30m
    labels: {severity: warning}
    annotations:
      summary: Rule {{ "{{ $labels.rule }}" }} cannot judge for lack of cluster state
  - alert: GpugateNotJudged
    expr: sum by (reason) (increase(gpugate_not_judged_total{ {{- $job -}} ,reason!~"no_patch|infrastructure"}[1h])) > 0
    for: 15m
    labels: {severity: info}
    annotations:
      summary: gpugate is sent what it does not judge ({{ "{{ $labels.reason }}" }})
      description: A rule of a webhook configuration (webhooks.extraRules) is wider than it should be.
  - alert: GpugateBreakGlass
    expr: sum(increase(gpugate_break_glass_total{ {{- $job -}} }[1h])) > 0
    labels: {severity: info}
    annotations:
      summary: A break-glass ticket let past gpugate what it denies
      description: The audit log and gpugate's own say who and what (breakGlass).
  - alert: GpugateExemptionEnds
    expr: min by (name) (gpugate_exemption_expiry_timestamp_seconds{ {{- $job -}} }) - time() < 14 * 86400
    labels: {severity: info}
    annotations:
      summary: Exemption {{ "{{ $labels.name }}" }} ends in {{ "{{ $value | humanizeDuration }}" }}
{{- end }}
