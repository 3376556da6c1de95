// One translation unit of the runtime: defects and their texts.

#include "causes.cpp"
#include "defects.cpp"
#include "defects_hopper.cpp"
#include "elements.cpp"
#include "masks.cpp"
#include "report.cpp"
#include "stuck.cpp"
#include "tensors.cpp"
#include "words.cpp"
