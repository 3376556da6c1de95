{% if axes | selectattr("size") | list %}
void check_size(const char* op, const char* name, View x, int dim, int64_t size) {
  if (x.size(dim) == size) return;
  fictl::raise(fictl::argument_error(fictl::ErrorKind::ValueError, op, name)
               << "has shape " << fictl::Shape{x} << "; its dimension " << dim << " is " << size);
}

{% endif %}
{% if vectors %}
void check_length(const char* op, const char* name, View x, const char* of, View rows) {
  if (x.size(0) == rows.size(-1)) return;
  fictl::raise(fictl::argument_error(fictl::ErrorKind::ValueError, op, name)
               << "has " << x.size(0) << " elements, a row of '" << of << "' has "
               << rows.size(-1));
}

{% endif %}
