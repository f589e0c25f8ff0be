# cmake -P tools/public_headers.cmake: the headers that are installed, for the C++ reference.
include(${CMAKE_CURRENT_LIST_DIR}/private_headers.cmake)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
file(GLOB_RECURSE headers RELATIVE ${root}/routh ${root}/routh/*.h)
foreach(header IN LISTS headers)
  if(NOT header IN_LIST ROUTH_PRIVATE_HEADERS)
    message("routh/${header}")
  endif()
endforeach()
