{{- define "offshoot.selector" -}}
app.kubernetes.io/name: offshoot
{{- end }}

{{- define "offshoot.labels" -}}
{{ include "offshoot.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The parts that are on, in the order of `offshoot run`. */}}
{{- define "offshoot.parts" -}}
{{- $parts := list }}
{{- range list "environments" "targets" "routing" "mesh" }}
{{- if index $.Values.parts . }}{{ $parts = append $parts . }}{{ end }}
{{- end }}
{{- if not $parts }}{{ fail "parts: all are disabled; enable at least one" }}{{ end }}
{{- if and .Values.namespaces (or .Values.dashboard.enabled (ne (join "," $parts) "environments")) }}
{{- fail "namespaces: only environments stay in namespaces; disable the dashboard and all other parts" }}
{{- end }}
{{- join "," $parts }}
{{- end }}

{{/* The parts whose objects are admitted by us; empty for none. */}}
{{- define "offshoot.admitted" -}}
{{- $parts := list }}
{{- range list "environments" "targets" }}
{{- if and $.Values.webhook.enabled (not $.Values.namespaces) (index $.Values.parts .) }}{{ $parts = append $parts . }}{{ end }}
{{- end }}
{{- join "," $parts }}
{{- end }}

{{/* A YAML object with our labels. Takes a dict of `object` and `root`. */}}
{{- define "offshoot.labelled" -}}
{{- $labels := fromYaml (include "offshoot.labels" .root) }}
{{- $own := .object.metadata.labels | default dict }}
{{- $_ := set .object.metadata "labels" (merge (deepCopy $own) $labels) }}
{{- toYaml .object }}
{{- end }}
