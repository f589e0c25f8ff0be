# What `cmake --install` leaves: libraries with headers for other projects, and the command.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY ROUTH_LIBRARIES)
install(TARGETS ${libraries} EXPORT routh
  LIBRARY COMPONENT library
  ARCHIVE COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
include(tools/private_headers.cmake)
set(private)
foreach(header IN LISTS ROUTH_PRIVATE_HEADERS)
  list(APPEND private REGEX "/${header}$" EXCLUDE)
endforeach()
install(DIRECTORY routh ${PROJECT_BINARY_DIR}/include/routh DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library FILES_MATCHING PATTERN "*.h" ${private})

# find_package(routh), from an installed copy and from the build tree
set(ROUTH_NEEDS_PRIVATE ON)
if(BUILD_SHARED_LIBS)
  set(ROUTH_NEEDS_PRIVATE OFF)
endif()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/routh)
configure_package_config_file(tools/routhConfig.cmake.in ${PROJECT_BINARY_DIR}/routhConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/routhConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/routhConfig.cmake ${PROJECT_BINARY_DIR}/routhConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)
install(EXPORT routh FILE routhTargets.cmake NAMESPACE routh:: DESTINATION ${package}
  COMPONENT library)
export(EXPORT routh FILE ${PROJECT_BINARY_DIR}/routhTargets.cmake NAMESPACE routh::)
# a static library is linked with what it uses
set(ROUTH_PC_STATIC "-lgmpxx -lgmp")
if(BUILD_SHARED_LIBS)
  set(ROUTH_PC_STATIC "")
endif()
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(tools/routh.pc.in ${PROJECT_BINARY_DIR}/routh.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/routh.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT library)

if(ROUTH_COMMAND)
  file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(routh PROPERTIES INSTALL_RPATH
    $<$<BOOL:${BUILD_SHARED_LIBS}>:$ORIGIN/${lib_from_bin}>)
  install(TARGETS routh COMPONENT command)
  install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/routh COMPONENT command)
  # the manual page and the completion of shells, as the program itself knows them
  if(NOT CMAKE_CROSSCOMPILING AND NOT ROUTH_SANITIZE)
    set(made ${PROJECT_BINARY_DIR}/share)
    file(MAKE_DIRECTORY ${made})
    add_custom_command(TARGET routh POST_BUILD VERBATIM
      COMMAND routh man > ${made}/routh.1
      COMMAND routh completion bash > ${made}/routh
      COMMAND routh completion zsh > ${made}/_routh
      COMMAND routh completion fish > ${made}/routh.fish)
    install(FILES ${made}/routh.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
    install(FILES ${made}/routh COMPONENT command
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    # Debian's zsh looks for packages elsewhere
    install(CODE "
      set(folder site-functions)
      if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
        set(folder vendor-completions)
      endif()
      file(INSTALL \"${made}/_routh\" TYPE FILE
        DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")"
      COMPONENT command)
    install(FILES ${made}/routh.fish COMPONENT command
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()

# the licences, one folder for each package
function(routh_licence folder component)
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${folder})
  install(FILES LICENSE DESTINATION ${doc} COMPONENT ${component})
  install(FILES NOTICE RENAME copyright DESTINATION ${doc} COMPONENT ${component})
endfunction()
routh_licence(librouth-dev library)
if(ROUTH_COMMAND)
  routh_licence(routh command)
endif()

# Debian packages (make package): the command, and the library with its headers.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME routh)
  set(CPACK_PACKAGE_CONTACT "The Routh authors")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_ALL command library)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME routh)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS gnuplot-nox)
  set(CPACK_DEBIAN_COMMAND_DESCRIPTION "The command routh: every outcome of a simultaneous frictional \
impact, exact sets of them, and simulation through them, with scenarios and manual page.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME librouth-dev)
  set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Headers and libraries for programs in C++20, with \
files for CMake and pkg-config.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
  set(library_needs libeigen3-dev libgmp-dev)
  if(ROUTH_IO)
    list(APPEND library_needs nlohmann-json3-dev libfmt-dev libyaml-cpp-dev libmuparser-dev)
  endif()
  if(TARGET routh_mujoco)
    list(APPEND library_needs libmujoco-dev)
  endif()
  list(JOIN library_needs ", " CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS)
  include(CPack)
endif()
