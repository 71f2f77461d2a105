# jarvis_precompile(target [header...]): reads what nearly every file includes once a target, and the
# headers given besides. Off by default: a changed header then costs its whole target. The builds
# with sanitizers, which are made from nothing each time, take less time with it. Of
# libraries: GCC 12 warns of correct code in some tests when they are compiled so.
option(JARVIS_PRECOMPILE "Precompile the headers that most files include" OFF)
function(jarvis_precompile target)
  if(JARVIS_PRECOMPILE)
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <functional> <map> <memory> <optional> <string> <unordered_map>
      <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp> ${ARGN})
  endif()
endfunction()
