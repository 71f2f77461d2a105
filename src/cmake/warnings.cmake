# jarvis_warnings(target): the project's warning list, as errors unless JARVIS_WERROR is off.
function(jarvis_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual -Wold-style-cast -Wcast-qual -Wformat=2 -Wundef -Wdouble-promotion
    -Wimplicit-fallthrough -Wmissing-declarations)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports -Wrestrict falsely on "a" + std::to_string(i) at -O3, and
    # -Wmaybe-uninitialized on moves of a std::variant that may hold a string, and -Warray-bounds
    # on a comparison of a JSON value with a literal.
    target_compile_options(${target} PRIVATE -Wduplicated-cond -Wlogical-op -Wno-restrict
                           -Wno-maybe-uninitialized -Wno-array-bounds)
  endif()
  if(JARVIS_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
