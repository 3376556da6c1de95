{% set small = "((1, 8), (3, 64), (5, 112), (17, 264), (40, 520), (2, 4104))" %}
{% include "rowwise/kernels/{{family}}/{{name}}/bench.py" %}
