// Prints what fictl::device::Element says of each type in elements.inc, a line each.
#include <stdio.h>
#include <fictl/device/element_fp8.cuh>

static float first(float x) { return x; }
static float first(float2 x) { return x.x; }

template <typename T>
void show() {
  using Element = fictl::device::Element<T>;
  using Float = decltype(Element::to_float(T()));
  const float there_and_back = first(Element::to_float(Element::from_float(Float{1.0f})));
  printf("%s %d %d %d %zu %g\n", Element::kName, Element::kCode, Element::kBits, Element::kLanes,
         sizeof(T), there_and_back);
}

int main() {
#include "elements.inc"
}
