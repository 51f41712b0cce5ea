# Finds everything Sluice links, and makes one interface target, sluice_dependencies, of it.
#
# Each package is asked from pkg-config first, because the distributions' files know the serial
# HDF5 and the OpenBLAS flavour in use; without an answer the plain search of CMake has its turn.
# CMAKE_PREFIX_PATH is honoured by both, also when it points at an unpacked Debian package
# (<prefix>/usr/lib/x86_64-linux-gnu).

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

set(SLUICE_MULTIARCH "lib/${CMAKE_C_LIBRARY_ARCHITECTURE}")

# sluice_find(ZSTD "libzstd" zstd.h zstd) sets ZSTD_FOUND and makes sluice_ZSTD.
# `modules` are pkg-config names in order of preference ("": do not ask), `header` and `library` the
# plain search.
function(sluice_find name modules header library)
    set(found FALSE)
    add_library(sluice_${name} INTERFACE)
    if(PkgConfig_FOUND AND modules)
        pkg_search_module(SLUICE_PC_${name} QUIET IMPORTED_TARGET ${modules})
        if(SLUICE_PC_${name}_FOUND)
            target_link_libraries(sluice_${name} INTERFACE PkgConfig::SLUICE_PC_${name})
            set(found TRUE)
            set(${name}_MODULE "${SLUICE_PC_${name}_MODULE_NAME}" PARENT_SCOPE)
            set(${name}_VERSION "${SLUICE_PC_${name}_VERSION}" PARENT_SCOPE)
        endif()
    endif()
    if(NOT found)
        find_path(SLUICE_${name}_INCLUDE ${header}
            PATH_SUFFIXES include usr/include include/hdf5/serial usr/include/hdf5/serial
                          include/${CMAKE_C_LIBRARY_ARCHITECTURE}
                          include/${CMAKE_C_LIBRARY_ARCHITECTURE}/openblas-pthread)
        find_library(SLUICE_${name}_LIBRARY NAMES ${library}
            PATH_SUFFIXES ${SLUICE_MULTIARCH} usr/${SLUICE_MULTIARCH}
                          ${SLUICE_MULTIARCH}/hdf5/serial)
        mark_as_advanced(SLUICE_${name}_INCLUDE SLUICE_${name}_LIBRARY)
        if(SLUICE_${name}_INCLUDE AND SLUICE_${name}_LIBRARY)
            target_include_directories(sluice_${name} SYSTEM INTERFACE
                "$<BUILD_INTERFACE:${SLUICE_${name}_INCLUDE}>")
            target_link_libraries(sluice_${name} INTERFACE "${SLUICE_${name}_LIBRARY}")
            set(found TRUE)
            set(${name}_VERSION "in ${SLUICE_${name}_LIBRARY}" PARENT_SCOPE)
        endif()
    endif()
    set(${name}_FOUND ${found} PARENT_SCOPE)
endfunction()

function(sluice_require name package debian)
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR
            "${package} is required and was not found. On Debian and Ubuntu: apt install ${debian}. "
            "Elsewhere point CMAKE_PREFIX_PATH or PKG_CONFIG_PATH at it.")
    endif()
endfunction()

sluice_find(HDF5 "hdf5-serial;hdf5" hdf5.h "hdf5_serial;hdf5")
sluice_require(HDF5 "HDF5 (the serial C library)" libhdf5-dev)
sluice_find(ZSTD "libzstd" zstd.h zstd)
sluice_require(ZSTD "zstd" libzstd-dev)
sluice_find(OPENBLAS "openblas" cblas.h openblas)
sluice_require(OPENBLAS "OpenBLAS" libopenblas-dev)

if(NOT SLUICE_FITS STREQUAL "OFF")
    sluice_find(CFITSIO "cfitsio" fitsio.h cfitsio)
endif()
sluice_decide(FITS "${CFITSIO_FOUND}" "cfitsio (libcfitsio-dev)")
if(NOT SLUICE_PNG STREQUAL "OFF")
    sluice_find(LIBPNG "libpng;libpng16" png.h "png;png16")
endif()
sluice_decide(PNG "${LIBPNG_FOUND}" "libpng (libpng-dev)")
if(NOT SLUICE_NPZ STREQUAL "OFF")
    sluice_find(LIBZIP "libzip" zip.h zip)
endif()
sluice_decide(NPZ "${LIBZIP_FOUND}" "libzip (libzip-dev)")
if(NOT SLUICE_XXHASH STREQUAL "OFF")
    sluice_find(XXHASH "libxxhash" xxhash.h xxhash)
endif()
sluice_decide(XXHASH "${XXHASH_FOUND}" "xxHash (libxxhash-dev)")
if(NOT SLUICE_DEFLATE STREQUAL "OFF")
    sluice_find(LIBDEFLATE "libdeflate" libdeflate.h deflate)
endif()
sluice_decide(DEFLATE "${LIBDEFLATE_FOUND}" "libdeflate (libdeflate-dev)")
if(NOT SLUICE_HAVE_DEFLATE)
    sluice_find(ZLIB "zlib" zlib.h z)
    sluice_require(ZLIB "zlib, without libdeflate," zlib1g-dev)
endif()
if(NOT SLUICE_LZ4 STREQUAL "OFF")
    sluice_find(LIBLZ4 "liblz4" lz4.h lz4)
endif()
sluice_decide(LZ4 "${LIBLZ4_FOUND}" "LZ4 (liblz4-dev)")
if(NOT SLUICE_BLOSC STREQUAL "OFF")
    sluice_find(LIBBLOSC "blosc" blosc.h blosc)
endif()
sluice_decide(BLOSC "${LIBBLOSC_FOUND}" "blosc (libblosc-dev)")
if(NOT SLUICE_SZIP STREQUAL "OFF")
    sluice_find(LIBAEC "" libaec.h aec)
endif()
sluice_decide(SZIP "${LIBAEC_FOUND}" "libaec (libaec-dev)")

# Later versions of HDF5 list the chunks of a dataset; with others io/h5_index_driver.c finds them.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES sluice_HDF5)
check_symbol_exists(H5Dchunk_iter hdf5.h SLUICE_HAVE_H5_CHUNK_ITER)
unset(CMAKE_REQUIRED_LIBRARIES)

add_library(sluice_dependencies INTERFACE)
target_link_libraries(sluice_dependencies INTERFACE
    sluice_HDF5 sluice_ZSTD sluice_OPENBLAS Threads::Threads m)
# HDF5 1.12 and later keep the calls of 1.10, which Debian 12 and Ubuntu 24.04 have, under this name.
target_compile_definitions(sluice_dependencies INTERFACE H5_USE_110_API)
if(SLUICE_HAVE_FITS)
    target_link_libraries(sluice_dependencies INTERFACE sluice_CFITSIO)
endif()
if(SLUICE_HAVE_PNG)
    target_link_libraries(sluice_dependencies INTERFACE sluice_LIBPNG)
endif()
if(SLUICE_HAVE_NPZ)
    target_link_libraries(sluice_dependencies INTERFACE sluice_LIBZIP)
endif()
if(SLUICE_HAVE_XXHASH)
    target_link_libraries(sluice_dependencies INTERFACE sluice_XXHASH)
endif()
if(SLUICE_HAVE_DEFLATE)
    target_link_libraries(sluice_dependencies INTERFACE sluice_LIBDEFLATE)
else()
    target_link_libraries(sluice_dependencies INTERFACE sluice_ZLIB)
endif()
if(SLUICE_HAVE_LZ4)
    target_link_libraries(sluice_dependencies INTERFACE sluice_LIBLZ4)
endif()
if(SLUICE_HAVE_BLOSC)
    target_link_libraries(sluice_dependencies INTERFACE sluice_LIBBLOSC)
endif()
if(SLUICE_HAVE_SZIP)
    target_link_libraries(sluice_dependencies INTERFACE sluice_LIBAEC)
endif()
if(SLUICE_HAVE_CUDA)
    # The static runtime: a program built here runs wherever the driver is new enough, and a machine
    # without a card or driver still starts it and takes the host device.
    target_link_libraries(sluice_dependencies INTERFACE CUDA::cudart_static)
endif()
