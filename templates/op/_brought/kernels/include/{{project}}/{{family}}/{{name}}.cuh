{{ header -}}
