{% set aligned = roles.cols %}
{% include "_cuda/kernels/{{family}}/{{name}}/trace.py" %}
