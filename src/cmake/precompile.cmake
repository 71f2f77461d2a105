# jarvis_precompile(target): reads what nearly every file includes once a target. Off by default: a
# changed header then costs its whole target. The build with the address sanitizer, which is made from
# nothing each time, takes less time with it.
#
# For libraries alone, and not with the thread sanitizer: GCC 12 forgets of precompiled headers that
# they are the system's, and warns of correct code in them (-Wstringop-overflow above all).
option(JARVIS_PRECOMPILE "Precompile the headers that most files include" OFF)
function(jarvis_precompile target)
  if(JARVIS_PRECOMPILE)
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <functional> <map> <memory> <optional> <string> <unordered_map>
      <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow)
  endif()
endfunction()
