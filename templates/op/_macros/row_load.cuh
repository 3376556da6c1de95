{% set loads = [] %}
{% for each in names %}
{% set _ = loads.append(each ~ "_vec_[i] = " ~ ("load_l1(" if each in vectors else "device::load_l2<N>(") ~ each ~ "_ + at);") %}
{% endfor %}
  // Loads what is held, or the part of the row from `start` on.
  __device__ void load(int64_t start = 0) {
{% if loads | length == 1 %}
    each(start, [&](int i, int64_t at) { {{- " " ~ loads[0] ~ " " -}} });
{% else %}
    each(start, [&](int i, int64_t at) {
{% for load in loads %}
      {{ load }}
{% endfor %}
    });
{% endif %}
  }
