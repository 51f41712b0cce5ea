# Tests and examples, found by folder and name.
#
#   tests/<folder>/test_<name>.c   test_<folder>_<name>: cmocka, linked with libsluice.a and
#                                  tests/support/*.c; one of them again with kernels for earlier cards
#   tests/app/*.sh, *.py           program tests; SLUICE_PROGRAM holds the path of `sluice`
#   tests/lint/lint_*.py           lint_<name>
#   examples/<nn_name>/*.c         example_<nn_name>, and a test if run.sh lies beside it; *.cu joins
#                                  it where CUDA is built in
#   examples/ladder/*_<n>_*.c, .cu example_ladder_<n>_host and _cuda: one step each of example_ladder
#
# Labels follow from names: *_cuda is gpu, *_fault is fault, *_slow is slow, lint is lint, the rest
# cpu; SLUICE_EVERY_DEVICE names those that also run on a card. What ThreadSanitizer is for is threads
# too (SLUICE_THREADED), and the target sluice_thread_tests builds that and no more. A script leaves with
# 77 when it could not run; a cmocka program in which every case was skipped is shown as skipped
# (tests/support/run_cmocka).

set(SLUICE_TEST_OUTPUT "${PROJECT_BINARY_DIR}/test-output")
file(MAKE_DIRECTORY "${SLUICE_TEST_OUTPUT}")
set(SLUICE_TEST_DEFINITIONS
    "SLC_TEST_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"" "SLC_TEST_BUILD_DIR=\"${SLUICE_TEST_OUTPUT}\"")
find_package(Python3 QUIET COMPONENTS Interpreter)
set(SLUICE_N_TESTS 0)
set(SLUICE_N_SCRIPTS 0)
set(SLUICE_N_LINTS 0)

# A sanitized program runs several times slower.
set(SLUICE_TIMEOUT_FACTOR 1)
if(SLUICE_SANITIZE)
    set(SLUICE_TIMEOUT_FACTOR 4)
endif()

# Tests that open every device of the machine: without a card they cover the host device alone.
set(SLUICE_EVERY_DEVICE test_core_array test_kernels_permute_job test_core_device test_core_device_events
    test_ooc_stopwatch test_kernels_direct_bits
    test_app_image_budget test_app_gather example_02_own_kernel example_03_mapped)

# Tests of what has threads: the core, the engine, reading, and the imaging job on one and several threads
# (test_app_image takes two minutes of a processor more, and finds nothing else). Planning has none.
set(SLUICE_THREADED
    "^test_(core|ooc)_|^test_io_(vis|h5_chunk_window$)|^test_app_(image_budget|weighting)$")
set(SLUICE_NOT_THREADED "^test_ooc_plan|^test_core_copy_plan$")

# What takes longest begins first, so that it does not go on alone when all else has ended.
set(SLUICE_LONG "^lint_tidy|_slow$|_fault|^test_app_(interop_stats_numpy|cases|image|program|smallest_budgets)|^test_ooc_probe$")

function(sluice_set_test_properties test stem)
    set(seconds 120)
    if(stem MATCHES "_cuda$")
        set(label gpu)
    elseif(stem MATCHES "_fault$")
        set(label fault)
        set(seconds 300)
    elseif(stem MATCHES "_slow$")
        set(label slow)
        if(test MATCHES "^lint_")
            set(label "lint;slow")
        endif()
        set(seconds 600)
    elseif(test MATCHES "^lint_")
        set(label lint)
    elseif(test IN_LIST SLUICE_EVERY_DEVICE)
        set(label "cpu;gpu")
    else()
        set(label cpu)
    endif()
    if(test MATCHES "${SLUICE_THREADED}" AND NOT test MATCHES "${SLUICE_NOT_THREADED}")
        list(APPEND label threads)
    endif()
    set(cost 1)
    if(test MATCHES "${SLUICE_LONG}")
        set(cost 100)
        if(seconds LESS 300)
            set(seconds 300)
        endif()
    endif()
    math(EXPR seconds "${seconds} * ${SLUICE_TIMEOUT_FACTOR}")
    set(environment "SLUICE_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
        "SLUICE_BUILD_DIR=${PROJECT_BINARY_DIR}" "PYTHONDONTWRITEBYTECODE=1")
    if(SLUICE_HAVE_PROGRAM)
        list(APPEND environment "SLUICE_PROGRAM=$<TARGET_FILE:sluice>")
    endif()
    if(SLUICE_SANITIZE MATCHES "thread")
        # When HDF5 looks through its plugins, ThreadSanitizer lists all libraries anew, finds those that its
        # suppressions name a second time, and stops.
        list(APPEND environment "HDF5_PLUGIN_PATH=${SLUICE_TEST_OUTPUT}/no-plugins"
            "TSAN_OPTIONS=halt_on_error=1:suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp")
    elseif(SLUICE_SANITIZE MATCHES "address")
        list(APPEND environment "UBSAN_OPTIONS=print_stacktrace=1"
            "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0")
    endif()
    set_tests_properties(${test} PROPERTIES
        LABELS "${label}" COST ${cost} TIMEOUT ${seconds} SKIP_RETURN_CODE 77
        WORKING_DIRECTORY "${SLUICE_TEST_OUTPUT}" ENVIRONMENT "${environment}")
endfunction()

if(SLUICE_TESTS)
    # Not from pkg-config: the file in an unpacked package names folders that are not there.
    sluice_find(CMOCKA "" cmocka.h cmocka)
    if(CMOCKA_FOUND)
        set(SLUICE_HAVE_CMOCKA 1)
    endif()
endif()

# Calls of the library's own that a test makes fail: those that test_calls.c lists, and open; what tells
# it that a dataset is being opened; and what runs a job with each of them failing.
function(sluice_wrap_calls test)
    set(calls "${PROJECT_SOURCE_DIR}/tests/support/wrap/test_calls.c")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${calls}")
    target_sources(${test} PRIVATE "${calls}"
        "${PROJECT_SOURCE_DIR}/tests/support/wrap/test_job_faults.c")
    file(STRINGS "${calls}" lines REGEX "^WRAP[A-Z_]*\\([A-Z0-9_]+, ")
    set(names open slci_h5_chunks_create)
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^WRAP[A-Z_]*\\([A-Z0-9_]+, ([A-Za-z0-9_]+),.*" "\\1" name "${line}")
        list(APPEND names ${name})
    endforeach()
    foreach(name IN LISTS names)
        target_link_options(${test} PRIVATE "LINKER:--wrap=${name}")
    endforeach()
endfunction()

# ---- cmocka programs --------------------------------------------------------------------------
if(SLUICE_HAVE_CMOCKA)
    file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.c")
    set(support_objects "")
    if(support)
        add_library(sluice_test_support OBJECT ${support})
        target_compile_definitions(sluice_test_support PRIVATE ${SLUICE_TEST_DEFINITIONS})
        target_include_directories(sluice_test_support PRIVATE "${PROJECT_SOURCE_DIR}/tests")
        target_link_libraries(sluice_test_support PRIVATE
            sluice_flags sluice_dependencies sluice_CMOCKA)
        set(support_objects $<TARGET_OBJECTS:sluice_test_support>)
    endif()
    add_custom_target(sluice_thread_tests)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/test_*.c")
    foreach(source IN LISTS sources)
        get_filename_component(stem "${source}" NAME_WE)
        get_filename_component(folder "${source}" DIRECTORY)
        get_filename_component(folder "${folder}" NAME)
        if(folder STREQUAL "support")
            continue()
        endif()
        string(REGEX REPLACE "^test_" "" name "${stem}")
        set(test "test_${folder}_${name}")
        add_executable(${test} "${source}" ${support_objects})
        target_compile_definitions(${test} PRIVATE ${SLUICE_TEST_DEFINITIONS})
        target_include_directories(${test} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
        target_link_libraries(${test} PRIVATE
            sluice_flags sluice_static sluice_dependencies sluice_CMOCKA)
        if(name MATCHES "^(image|gather|predict|rewrite|stats|checkpoint|engine)_fault")
            sluice_wrap_calls(${test})
        endif()
        if(name MATCHES "^(direct_card|image_probe_cuda)$") # answer in the place of tensor cores
            target_link_options(${test} PRIVATE "LINKER:--wrap=slci_direct_probe")
        endif()
        add_test(NAME ${test}
            COMMAND bash "${PROJECT_SOURCE_DIR}/tests/support/run_cmocka" $<TARGET_FILE:${test}>)
        sluice_set_test_properties(${test} ${stem})
        if(test MATCHES "${SLUICE_THREADED}" AND NOT test MATCHES "${SLUICE_NOT_THREADED}")
            add_dependencies(sluice_thread_tests ${test})
        endif()
        math(EXPR SLUICE_N_TESTS "${SLUICE_N_TESTS} + 1")
    endforeach()

    # The product kernel of earlier cards once more, as PTX of their compute capability alone, which the
    # driver compiles for the card at hand. These objects come before the library's own.
    if(SLUICE_HAVE_CUDA)
        foreach(compute 75 80)
            set(test "test_kernels_direct_mma_ptx${compute}_cuda")
            add_library(sluice_ptx${compute} OBJECT "${PROJECT_SOURCE_DIR}/kernels/direct_mma.cu")
            target_link_libraries(sluice_ptx${compute} PRIVATE sluice_flags sluice_dependencies)
            set_target_properties(sluice_ptx${compute} PROPERTIES
                CUDA_ARCHITECTURES ${compute}-virtual CUDA_VISIBILITY_PRESET hidden)
            add_executable(${test} "${PROJECT_SOURCE_DIR}/tests/kernels/test_direct_mma_cuda.c"
                ${support_objects} $<TARGET_OBJECTS:sluice_ptx${compute}>)
            target_compile_definitions(${test} PRIVATE
                ${SLUICE_TEST_DEFINITIONS} SLC_TEST_COMPUTE=${compute})
            target_include_directories(${test} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
            target_link_libraries(${test} PRIVATE
                sluice_flags sluice_static sluice_dependencies sluice_CMOCKA)
            add_test(NAME ${test} COMMAND
                bash "${PROJECT_SOURCE_DIR}/tests/support/run_cmocka" $<TARGET_FILE:${test}>)
            sluice_set_test_properties(${test} ${test})
            math(EXPR SLUICE_N_TESTS "${SLUICE_N_TESTS} + 1")
        endforeach()
    endif()
endif()

# ---- scripts: the program from outside, and lint ------------------------------------------------
function(sluice_add_script test script stem)
    if(script MATCHES "\\.py$")
        add_test(NAME ${test} COMMAND "${Python3_EXECUTABLE}" "${script}")
    else()
        add_test(NAME ${test} COMMAND bash "${script}")
    endif()
    sluice_set_test_properties(${test} ${stem})
    math(EXPR count "${SLUICE_N_SCRIPTS} + 1")
    set(SLUICE_N_SCRIPTS ${count} PARENT_SCOPE)
endfunction()

if(SLUICE_TESTS AND Python3_Interpreter_FOUND)
    file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/app/*.sh"
        "${PROJECT_SOURCE_DIR}/tests/app/*.py" "${PROJECT_SOURCE_DIR}/tests/package/*.sh")
    foreach(script IN LISTS scripts)
        get_filename_component(stem "${script}" NAME_WE)
        # Names that begin with an underscore or "support" are modules of the tests beside them.
        if(SLUICE_HAVE_PROGRAM AND NOT stem MATCHES "^(_|support)")
            get_filename_component(folder "${script}" DIRECTORY)
            get_filename_component(folder "${folder}" NAME)
            string(REGEX REPLACE "^test_" "" name "${stem}")
            sluice_add_script("test_${folder}_${name}" "${script}" "${stem}")
        endif()
    endforeach()
    file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/lint/lint_*.py")
    foreach(script IN LISTS scripts)
        get_filename_component(stem "${script}" NAME_WE)
        sluice_add_script("${stem}" "${script}" "${stem}")
        math(EXPR SLUICE_N_LINTS "${SLUICE_N_LINTS} + 1")
    endforeach()
endif()

# ---- examples -----------------------------------------------------------------------------------
if(SLUICE_EXAMPLES)
    file(GLOB folders CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/[0-9]*")
    foreach(folder IN LISTS folders)
        get_filename_component(name "${folder}" NAME)
        file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.c")
        if(NOT sources)
            continue()
        endif()
        if(SLUICE_HAVE_CUDA)
            file(GLOB found CONFIGURE_DEPENDS "${folder}/*.cu")
            list(APPEND sources ${found})
        endif()
        # Examples see what a user sees: the shared library and its public headers, no private flags
        # but the warnings.
        add_executable(example_${name} ${sources})
        target_link_libraries(example_${name} PRIVATE sluice_flags sluice_shared m)
        if(SLUICE_TESTS AND EXISTS "${folder}/run.sh" AND SLUICE_HAVE_PROGRAM)
            add_test(NAME example_${name}
                COMMAND bash "${folder}/run.sh" $<TARGET_FILE:example_${name}>)
            sluice_set_test_properties(example_${name} example_${name})
        endif()
    endforeach()

    # The ladder's steps, each a test: host_1, ..., 01_cuda, ... where CUDA is built in.
    add_executable(example_ladder "${PROJECT_SOURCE_DIR}/examples/ladder/ladder_main.c")
    target_link_libraries(example_ladder PRIVATE sluice_flags sluice_ladder)
    if(SLUICE_HAVE_CUDA)
        target_link_libraries(example_ladder PRIVATE CUDA::cudart_static)
    endif()
    file(GLOB steps CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/ladder/host_[0-9]_*.c")
    if(SLUICE_HAVE_CUDA)
        file(GLOB found CONFIGURE_DEPENDS
            "${PROJECT_SOURCE_DIR}/examples/ladder/cuda_[0-9][0-9]_*.cu")
        list(APPEND steps ${found})
    endif()
    foreach(step IN LISTS steps)
        string(REGEX REPLACE ".*/(host|cuda)_([0-9]+)_[^/]*$" "\\1;\\2" words "${step}")
        list(GET words 0 kind)
        list(GET words 1 number)
        set(test "example_ladder_${number}_${kind}")
        if(SLUICE_TESTS)
            add_test(NAME ${test} COMMAND example_ladder ${kind} ${number})
            sluice_set_test_properties(${test} ${test})
        endif()
    endforeach()
endif()
