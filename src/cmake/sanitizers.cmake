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
