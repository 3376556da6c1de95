{% set x, out = inputs[0].name, outputs[0].name %}
#include <binding/launch.h>
#include <binding/peers.h>

#include <{{ project }}/{{ family }}/{{ name }}.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
using fictl::Launch;
using fictl::View;

{% endif %}
{{ cpp("void " ~ name ~ "(", ["const Launch& launch", "View " ~ out, "View " ~ x, "View host_peers"], ") {") }}
  const auto peers = fictl::peers_of(launch, host_peers);
  const int64_t bytes = {{ x }}.numel() * {{ x }}.dtype().bits / 8;
  const int64_t room = fictl::peers_bytes(host_peers);
{{ cpp("  CUDA_CHECK(launch, " ~ title ~ "(", ["peers", out ~ ".data<void>()", x ~ ".data<const void>()", "bytes", "room", "launch.stream", "launch.pdl"], "));") }}
}

}  // namespace {{ project }}::{{ family }}
