{{- define "rtc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (default .Chart.Name .Values.nameOverride) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change, by which a pod is found; `component` is service, stt-live or stt-post. */}}
{{- define "rtc.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "rtc.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{ include "rtc.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{- define "rtc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "rtc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Every setting, secrets by the file that each is in. */}}
{{- define "rtc.environment" -}}
- { name: HOST, value: '0.0.0.0' }
- { name: PORT, value: '3000' }
- { name: DATA_DIR, value: /data }
- { name: METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
- { name: SHUTDOWN_DELAY, value: {{ .Values.shutdownDelaySeconds | quote }} }
{{- range $name, $value := .Values.settings }}
{{- if ne (toString $value) "" }}
- { name: {{ $name }}, value: {{ toString $value | quote }} }
{{- end }}
{{- end }}
{{- range $name, $_ := .Values.secrets }}
- { name: {{ $name }}_FILE, value: /run/secrets/rtc/{{ $name }} }
{{- end }}
{{- end -}}

{{- define "rtc.mounts" -}}
- { name: secrets, mountPath: /run/secrets/rtc, readOnly: true }
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
{{- end -}}

{{- define "rtc.volumes" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
{{- range $name, $reference := .Values.secrets }}
      - secret:
          name: {{ $reference.name }}
          items: [{ key: {{ $reference.key | quote }}, path: {{ $name }} }]
{{- end }}
- name: tmp
  emptyDir: {}
{{- end -}}

{{/* All that pods of the service and of the workers share besides their containers. */}}
{{- define "rtc.scheduling" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* An image by its tag and, where it is known, by its digest, which then decides. */}}
{{- define "rtc.image" -}}
{{- $tagged := printf "%s:%s" .image.repository (default .root.Chart.AppVersion .image.tag) -}}
{{- ternary (printf "%s@%s" $tagged .image.digest) $tagged (ne .image.digest "") | quote -}}
{{- end -}}
