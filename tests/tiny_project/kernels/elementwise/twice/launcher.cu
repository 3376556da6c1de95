#include <tiny/elementwise/twice.cuh>

namespace tiny::elementwise {

int twice(int value) { return 2 * value; }

}  // namespace tiny::elementwise
