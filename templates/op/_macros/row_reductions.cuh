{% set reductions = expression.stages | map(attribute="reduction") | list %}
{% for reduction, op in {"sum": "Sum", "max": "Max", "min": "Min"}.items() %}
{% if reduction in reductions or (reduction == "sum" and "mean" in reductions) %}
  template <typename Value>
  __device__ {{ real }} {{ reduction }}(Value value) {
    return reduce(device::{{ op }}(), value);
  }

{% endif %}
{% endfor %}
{% if "mean" in reductions %}
  template <typename Value>
  __device__ {{ real }} mean(Value value) {
    return sum(value) / static_cast<{{ real }}>({{ length }});
  }

{% endif %}
