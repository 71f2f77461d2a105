# JARVIS_SANITIZE=address (AddressSanitizer and UndefinedBehaviorSanitizer) or =thread.
if(JARVIS_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
elseif(JARVIS_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT JARVIS_SANITIZE STREQUAL "")
  message(FATAL_ERROR "JARVIS_SANITIZE is '${JARVIS_SANITIZE}': expected empty, address or thread")
endif()

# For folders that only work on what others have read: these two checks take a tenth of the time that
# such a build costs, and the address sanitizer finds a null or wild pointer that is used.
function(jarvis_fewer_checks target)
  if(JARVIS_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment)
  endif()
endfunction()

# What libFuzzer steers by: which branches an input took.
if(JARVIS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
