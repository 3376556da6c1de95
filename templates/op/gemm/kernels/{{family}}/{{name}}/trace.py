{% set m, k = inputs[0].axis_names %}
{% set n = inputs[1].axis_names[0] %}
{% set aligned = [] %}
{% include "_macros/gemm_trace.py" %}