# cmake -DWHAT=installed|build-tree|added -DROUTH=source -DBUILD=build -DWORK=folder
#       -DGENERATOR=... -DCOMPILER=... -DLAUNCHER=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(code)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DROUTH=${ROUTH} -DREADME=${ROUTH}/README.md)
set(tests ${CMAKE_CURRENT_LIST_DIR})

if(WHAT STREQUAL added)
  run(${configure} -S ${tests}/add)
  file(READ ${WORK}/build/routh/cmake_install.cmake rules)
  if(rules MATCHES "file\\(INSTALL")
    message(FATAL_ERROR "rules to install came along")
  endif()
  return()
endif()

if(WHAT STREQUAL installed)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  run(${WORK}/prefix/bin/routh impact rocking-block)
  # the manual page and the completion are those of the program
  foreach(made man:man/man1/routh.1 completion,bash:bash-completion/completions/routh
      completion,zsh:zsh/site-functions/_routh completion,fish:fish/vendor_completions.d/routh.fish)
    string(REGEX MATCH "(.*):(.*)" made ${made})
    string(REPLACE "," ";" arguments ${CMAKE_MATCH_1})
    execute_process(COMMAND ${WORK}/prefix/bin/routh ${arguments} OUTPUT_FILE ${WORK}/made)
    run(${CMAKE_COMMAND} -E compare_files ${WORK}/made ${WORK}/prefix/share/${CMAKE_MATCH_2})
  endforeach()
  set(where -DCMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  set(where -Drouth_DIR=${BUILD})
endif()
run(${configure} -S ${tests}/find ${where})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/main)
# one outcome, then the version
if(NOT output MATCHES "^ *[-0-9.e]+ +[-0-9.e]+ +[-0-9.e]+\n[0-9.]+\n$")
  message(FATAL_ERROR "the program says\n${output}")
endif()

# the same without CMake
find_program(PKG_CONFIG pkg-config)
file(GLOB_RECURSE known ${WORK}/prefix/*/routh.pc)
if(known AND PKG_CONFIG)
  get_filename_component(known ${known} DIRECTORY)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${known} ${PKG_CONFIG} --cflags --libs routh)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${COMPILER} -std=c++20 ${WORK}/build/main.cc ${flags} -o ${WORK}/plain)
  run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${known}/.. ${WORK}/plain)
endif()
