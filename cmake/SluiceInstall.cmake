# make install: libraries, program, headers, sluice.pc, the CMake package, man page, completion.

include(CMakePackageConfigHelpers)

# What sluice.h includes is public, and so is the one header that is opted into.
file(STRINGS sluice.h SLUICE_PUBLIC_HEADERS REGEX "^#include \"")
list(TRANSFORM SLUICE_PUBLIC_HEADERS REPLACE "^#include \"([^\"]+)\".*" "\\1")
list(APPEND SLUICE_PUBLIC_HEADERS core/device_cuda.h)
install(FILES sluice.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice)
foreach(header IN LISTS SLUICE_PUBLIC_HEADERS)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice/${folder})
endforeach()

install(TARGETS sluice_static sluice_shared EXPORT SluiceTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(SLUICE_HAVE_PROGRAM)
    install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES docs/man/sluice.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completion/sluice.bash RENAME sluice
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What a program linked with libsluice.a needs besides it. The packages themselves are shared
# libraries, so their own needs are not repeated: Requires.private would, and then ask for a Fortran
# compiler because of OpenBLAS. Packages that came without a .pc file are named by their library.
set(SLUICE_PC_LIBS "")
set(SLUICE_LINK_PACKAGES HDF5 ZSTD OPENBLAS)
if(SLUICE_HAVE_FITS)
    list(APPEND SLUICE_LINK_PACKAGES CFITSIO)
endif()
if(SLUICE_HAVE_PNG)
    list(APPEND SLUICE_LINK_PACKAGES LIBPNG)
endif()
if(SLUICE_HAVE_NPZ)
    list(APPEND SLUICE_LINK_PACKAGES LIBZIP)
endif()
if(SLUICE_HAVE_XXHASH)
    list(APPEND SLUICE_LINK_PACKAGES XXHASH)
endif()
if(SLUICE_HAVE_DEFLATE)
    list(APPEND SLUICE_LINK_PACKAGES LIBDEFLATE)
else()
    list(APPEND SLUICE_LINK_PACKAGES ZLIB)
endif()
if(SLUICE_HAVE_LZ4)
    list(APPEND SLUICE_LINK_PACKAGES LIBLZ4)
endif()
if(SLUICE_HAVE_BLOSC)
    list(APPEND SLUICE_LINK_PACKAGES LIBBLOSC)
endif()
if(SLUICE_HAVE_SZIP)
    list(APPEND SLUICE_LINK_PACKAGES LIBAEC)
endif()
foreach(package IN LISTS SLUICE_LINK_PACKAGES)
    if(${package}_MODULE)
        list(APPEND SLUICE_PC_LIBS ${SLUICE_PC_${package}_LDFLAGS})
    else()
        list(APPEND SLUICE_PC_LIBS "${SLUICE_${package}_LIBRARY}")
    endif()
endforeach()
if(SLUICE_HAVE_CUDA)
    list(APPEND SLUICE_PC_LIBS "-L${CUDAToolkit_LIBRARY_DIR}" -lcudart_static -ldl -lrt -lstdc++)
endif()
list(APPEND SLUICE_PC_LIBS -lm -pthread)
list(JOIN SLUICE_PC_LIBS " " SLUICE_PC_LIBS)
# Relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH SLUICE_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" SLUICE_PC_UP "${SLUICE_PC_UP}")
configure_file(cmake/sluice.pc.in sluice.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/sluice.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(SLUICE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
set(SLUICE_LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR})
configure_package_config_file(cmake/SluiceConfig.cmake.in SluiceConfig.cmake
    INSTALL_DESTINATION ${SLUICE_PACKAGE_DIR} PATH_VARS SLUICE_LIBRARY_DIR)
write_basic_package_version_file(SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${SLUICE_PACKAGE_DIR})
install(FILES "${PROJECT_BINARY_DIR}/SluiceConfig.cmake"
    "${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake" DESTINATION ${SLUICE_PACKAGE_DIR})
