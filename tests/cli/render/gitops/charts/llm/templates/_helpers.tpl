{{- define "llm.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
{{- end }}
