# cmake -DFROM=skills -DTO=plugin/skills -P copy_skills.cmake: TO becomes a copy of FROM, which need
# not exist.
file(REMOVE_RECURSE ${TO})
file(MAKE_DIRECTORY ${TO})
if(EXISTS ${FROM})
  file(COPY ${FROM}/ DESTINATION ${TO})
endif()
