// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct {{ title }}Args {
  T* {{ out }};
{% for each in names %}
  const T* {{ each }};
{% endfor %}
{% for each in scalars %}
  {{ "bool" if each.type == "bool" else "device::Wide<T>" if is_wide else "float" }} {{ each.name }};
{% endfor %}
  int64_t rows;
  int64_t cols;
{% for each in pitched %}
  int64_t {{ each }}_pitch;
{% endfor %}
{% for each in own %}
  {{ each }}
{% endfor %}
};
