# The Debian package, by CPack. What only a package has (the service, the papers) is the component
# "system", so that `cmake --install` does not put it on a machine.
set(debian ${CMAKE_CURRENT_SOURCE_DIR}/debian)
set(papers ${CMAKE_CURRENT_BINARY_DIR}/debian)

# The maintainer of this build of the package, as Debian's own tools take it.
set(maintainer_name "The JARVIS authors")
set(maintainer_email "jarvis@packages.invalid")
if(DEFINED ENV{DEBFULLNAME})
  set(maintainer_name "$ENV{DEBFULLNAME}")
endif()
if(DEFINED ENV{DEBEMAIL})
  set(maintainer_email "$ENV{DEBEMAIL}")
endif()
set(maintainer "${maintainer_name} <${maintainer_email}>")

string(TIMESTAMP build_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH
file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence_text)
string(REGEX REPLACE "^MIT License\n\n(Copyright[^\n]*)\n\n" "" licence_text "${licence_text}")
set(copyright_line "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^Copyright \\(c\\) " "" copyright_line "${copyright_line}")
string(STRIP "${licence_text}" licence_text)
string(REPLACE "\n\n" "\n.\n" licence_text "${licence_text}")
string(REPLACE "\n" "\n " licence_text "${licence_text}")
configure_file(${debian}/copyright.in ${papers}/copyright @ONLY)
configure_file(${debian}/changelog.in ${papers}/changelog @ONLY)

# Beside themselves, without name and time of the file in them.
foreach(file ${papers}/changelog ${made}/jarvis.1)
  add_custom_command(
    OUTPUT ${file}.gz
    COMMAND gzip -9nkf ${file}
    DEPENDS ${file}
    VERBATIM)
  list(APPEND packed ${file}.gz)
endforeach()
add_custom_target(jarvis_papers ALL DEPENDS ${packed})
install(FILES ${made}/jarvis.1.gz DESTINATION share/man/man1)

install(FILES ${papers}/copyright ${papers}/changelog.gz ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION share/doc/jarvis COMPONENT system EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/jarvis
        COMPONENT system EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/sessions ${PROJECT_SOURCE_DIR}/examples/extensions
                  ${PROJECT_SOURCE_DIR}/examples/slurm
        DESTINATION share/doc/jarvis/examples COMPONENT system EXCLUDE_FROM_ALL
        USE_SOURCE_PERMISSIONS)
install(FILES ${PROJECT_SOURCE_DIR}/examples/data/transformer_step.json.gz
        DESTINATION share/doc/jarvis/examples/data COMPONENT system EXCLUDE_FROM_ALL)
install(FILES ${debian}/jarvis.service DESTINATION /lib/systemd/system
        COMPONENT system EXCLUDE_FROM_ALL)
install(FILES ${debian}/jarvis.default DESTINATION /etc/default RENAME jarvis
        COMPONENT system EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME jarvis)
set(CPACK_PACKAGE_VENDOR "The JARVIS authors")
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL Unspecified system)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded for PNG files and packed traces, see output/png.h and io/archive_library.h.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "librsvg2-2, libarchive13")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The summary's first letter is small, as the name stands before it.
string(SUBSTRING "${PROJECT_DESCRIPTION}" 0 1 first)
string(SUBSTRING "${PROJECT_DESCRIPTION}" 1 -1 rest)
string(TOLOWER "${first}" first)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${first}${rest}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "An MCP / JSON-RPC server, and a command, whose tools load traces of the
PyTorch profiler, say where the time of the GPU went, trace an operation
back to the line that called it, and say how far each is from the limit of
the hardware.

The service jarvis.service answers over HTTP; it is off by default.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles ${debian}/postinst ${debian}/prerm
                                       ${debian}/postrm)
include(CPack)
