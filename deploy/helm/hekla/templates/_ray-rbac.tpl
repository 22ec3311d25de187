{{- /* config/rbac/ray-operator.yaml for the release: cluster-wide, or the same rights in the watched
       namespaces alone. of: context, name, account, batch scheduler, watched namespaces. */ -}}
{{- define "hekla.ray.rbac" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $account := index . 2 -}}
{{- $batch := index . 3 -}}
{{- $ray := $root.Values.ray_operator -}}
{{- $places := list "" -}}
{{- if $ray.singleNamespaceInstall -}}
{{- $places = $ray.crNamespacedRbacEnable | ternary (index . 4) (list) -}}
{{- end -}}
{{- range $text := splitList "\n---\n" ($root.Files.Get "rbac/ray-operator.yaml") -}}
{{- range $place := $places -}}
{{- $object := fromYaml $text -}}
{{- $for_batch := hasSuffix "-batch-scheduler" $object.metadata.name -}}
{{- if and (ne $object.kind "ServiceAccount") (or (not $for_batch) $batch) -}}
{{- $_ := set $object.metadata "name" (replace "hekla-ray-operator" $name $object.metadata.name) -}}
{{- $_ := set $object.metadata "labels" (fromYaml (include "hekla.labels" (list $root $name dict))) -}}
{{- if $object.roleRef -}}
{{- $_ := set $object.roleRef "name" $object.metadata.name -}}
{{- $_ := set $object "subjects" (list (dict "kind" "ServiceAccount" "name" $account "namespace" $root.Release.Namespace)) -}}
{{- end -}}
{{- if $place -}}
{{- $_ := set $object "kind" (trimPrefix "Cluster" $object.kind) -}}
{{- $_ := set $object.metadata "namespace" $place -}}
{{- if $object.roleRef -}}{{- $_ := set $object.roleRef "kind" "Role" -}}{{- end -}}
{{- end }}
---
{{ toYaml $object }}
{{ end -}}
{{- end -}}
{{- end -}}
{{- if $ray.singleNamespaceInstall }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}-leader-election
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "hekla.labels" (list $root $name dict) | nindent 4 }}
rules:
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, create, update]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}-leader-election
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "hekla.labels" (list $root $name dict) | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}-leader-election
subjects:
- kind: ServiceAccount
  name: {{ $account }}
  namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}
