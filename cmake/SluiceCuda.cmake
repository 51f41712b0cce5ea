# Decides whether CUDA is built in, and for which cards.
#
# The compiler is looked for on PATH and in /usr/local/cuda, and tried on a small program before it
# is taken, so that AUTO never stops a build because of a toolkit that does not fit the host compiler.

set(SLUICE_CUDA_MINIMUM 12.0)
set(SLUICE_CUDA_WHY_NOT "not looked for")

if(NOT SLUICE_CUDA STREQUAL "OFF")
    set(SLUICE_CUDA_WHY_NOT "no nvcc on PATH or in /usr/local/cuda")
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(SLUICE_NVCC nvcc PATHS /usr/local/cuda/bin)
        mark_as_advanced(SLUICE_NVCC)
        if(SLUICE_NVCC)
            set(CMAKE_CUDA_COMPILER "${SLUICE_NVCC}")
        endif()
    endif()
    set(SLUICE_NVCC_VERSION "")
    if(CMAKE_CUDA_COMPILER)
        execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --version
            OUTPUT_VARIABLE nvcc_says ERROR_QUIET RESULT_VARIABLE nvcc_failed)
        if(NOT nvcc_failed AND nvcc_says MATCHES "release ([0-9]+\\.[0-9]+)")
            set(SLUICE_NVCC_VERSION ${CMAKE_MATCH_1})
        endif()
    endif()
    if(SLUICE_NVCC_VERSION AND SLUICE_NVCC_VERSION VERSION_LESS SLUICE_CUDA_MINIMUM)
        set(SLUICE_CUDA_WHY_NOT
            "nvcc ${SLUICE_NVCC_VERSION} is too old, ${SLUICE_CUDA_MINIMUM} or later is needed")
        unset(CMAKE_CUDA_COMPILER)
    elseif(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
        # Real code for the cards in use, and PTX of the last one for cards yet to come.
        if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
            set(CMAKE_CUDA_ARCHITECTURES "75-real;80-real;86-real;89-real;90"
                CACHE STRING "Cards to build for ('native' for those of this machine)")
        endif()
        include(CheckLanguage)
        enable_language(CXX)
        check_language(CUDA)
        if(CMAKE_CUDA_COMPILER)
            enable_language(CUDA)
            find_package(CUDAToolkit ${SLUICE_CUDA_MINIMUM} QUIET)
            set(SLUICE_CUDA_WHY_NOT "the toolkit's libraries were not found beside nvcc")
        else()
            set(SLUICE_CUDA_WHY_NOT "nvcc does not compile a small program with this host compiler")
        endif()
    endif()
endif()

if(CMAKE_CUDA_COMPILER_LOADED AND CUDAToolkit_FOUND AND TARGET CUDA::cudart_static)
    set(SLUICE_CUDA_USABLE TRUE)
else()
    set(SLUICE_CUDA_USABLE FALSE)
endif()
sluice_decide(CUDA "${SLUICE_CUDA_USABLE}"
    "a CUDA toolkit ${SLUICE_CUDA_MINIMUM} or later (${SLUICE_CUDA_WHY_NOT})")

set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
