# find_package(fictl) gives fictl::fictl: the header library, for plain C++ and CUDA users.
# Pass -Dfictl_DIR=<the folder of this file>; `fictl where --cmake` prints it.

if(NOT TARGET fictl::fictl)
  get_filename_component(_fictl_include "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
  add_library(fictl::fictl INTERFACE IMPORTED)
  set_target_properties(fictl::fictl PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_fictl_include}"
    INTERFACE_COMPILE_FEATURES cxx_std_17)
  unset(_fictl_include)
endif()
