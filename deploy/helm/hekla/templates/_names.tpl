{{- define "hekla.scheduler" -}}
{{ .Release.Name }}-scheduler
{{- end }}

{{- define "hekla.ray" -}}
{{ .Values.ray_operator.fullnameOverride | default (printf "%s-ray-operator" .Release.Name) }}
{{- end }}

{{- define "hekla.ray.account" -}}
{{ .Values.ray_operator.serviceAccount.name | default (include "hekla.ray" .) }}
{{- end }}

{{- /* Labels of every object, as a map in YAML; of: a list of context, name, more labels. */ -}}
{{- define "hekla.labels" -}}
{{- $root := index . 0 -}}
{{- $own := dict "app" (index . 1) "app.kubernetes.io/managed-by" $root.Release.Service "app.kubernetes.io/instance" $root.Release.Name "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version) -}}
{{- merge $own (index . 2 | default dict) ($root.Values.custom.common_labels | default dict) | toYaml -}}
{{- end }}

{{- /* config/rbac/<file> with names and namespaces of the release: no rights are written twice.
       of: context, file, name in the file, name to use. */ -}}
{{- define "hekla.rbac" -}}
{{- $root := index . 0 -}}
{{- $old := index . 2 -}}
{{- $new := index . 3 -}}
{{- range $text := splitList "\n---\n" ($root.Files.Get (index . 1)) }}
{{- $object := fromYaml (replace $old $new $text) }}
{{- if ne $object.kind "ServiceAccount" }}
{{- $_ := set $object.metadata "labels" (fromYaml (include "hekla.labels" (list $root $new dict))) }}
{{- range $object.subjects }}
{{- $_ := set . "namespace" $root.Release.Namespace }}
{{- end }}
---
{{ toYaml $object }}
{{ end }}
{{- end }}
{{- end }}
