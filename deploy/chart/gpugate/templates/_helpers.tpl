{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "gpugate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "gpugate.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "gpugate.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "gpugate.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "gpugate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gpugate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gpugate.labels" -}}
{{ include "gpugate.selectorLabels" . }}
app.kubernetes.io/component: webhook
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "gpugate.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gpugate.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "gpugate.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}:{{ $tag }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ $tag }}
{{- end }}
{{- end }}

{{- define "gpugate.tlsSecret" -}}
{{- default (printf "%s-tls" (include "gpugate.fullname" .)) .Values.tls.secretName }}
{{- end }}

{{- define "gpugate.policyName" -}}
{{- default (printf "%s-policy" (include "gpugate.fullname" .)) .Values.policy.existingConfigMap }}
{{- end }}

{{- define "gpugate.dnsNames" -}}
{{- $name := include "gpugate.fullname" . -}}
{{- printf "%s.%s.svc" $name .Release.Namespace }},{{ printf "%s.%s" $name .Release.Namespace }}
{{- end }}

{{/* "off" if there is a saved state, which is used instead of a watched one. */}}
{{- define "gpugate.live" -}}
{{- if and .Values.cluster.live (not .Values.cluster.snapshotConfigMap) }}on{{ else }}off{{ end }}
{{- end }}

{{/* "true" if gpugated sends requests to the API server. */}}
{{- define "gpugate.needsToken" -}}
{{- if or (eq (include "gpugate.live" .) "on") (eq .Values.tls.mode "selfManaged") }}true{{ else }}false{{ end }}
{{- end }}
