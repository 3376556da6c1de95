{% set views = ["const Launch& launch"] + spelled.views %}
{% if project == "fictl" %}
namespace fictl::{{ family }} {
{{ cpp("void " ~ name ~ "(", views, ");") }}
}
{% else %}
{% set qualified = [] %}
{% for each in views %}
{% set _ = qualified.append(each | replace("View ", "fictl::View ") | replace("const Launch", "const fictl::Launch")) %}
{% endfor %}
namespace {{ project }}::{{ family }} {
{{ cpp("void " ~ name ~ "(", qualified, ");") }}
}
{% endif %}
