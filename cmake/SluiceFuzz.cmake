# Fuzzers: tests/fuzz/fuzz_<name>.c, linked with clang's libFuzzer and everything of Sluice instrumented.
#
#   cmake --preset fuzz && cmake --build build/fuzz && ctest --test-dir build/fuzz
#
# runs each for SLUICE_FUZZ_SECONDS from tests/fuzz/corpus/<name>. What is found lies in
# build/fuzz/fuzz-<name>/, as crash-… or timeout-…, to be given to the fuzzer as its only argument. Inputs
# are of a few KiB, so whoever asks for 64 MiB at once believes a number that nobody has checked.

if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "SLUICE_FUZZ needs clang with its fuzzer (libclang-rt-dev): "
        "set CMAKE_C_COMPILER=clang in a build directory of its own, or use the preset fuzz.")
endif()
set(SLUICE_FUZZ_SECONDS 30 CACHE STRING "How long ctest runs each fuzzer")

if(NOT CMOCKA_FOUND)
    sluice_find(CMOCKA "" cmocka.h cmocka)
    sluice_require(CMOCKA "cmocka" libcmocka-dev)
endif()
file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.c")
add_library(sluice_fuzz_support STATIC EXCLUDE_FROM_ALL ${support})
target_compile_definitions(sluice_fuzz_support PRIVATE
    "SLC_TEST_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"" "SLC_TEST_BUILD_DIR=\"${PROJECT_BINARY_DIR}\"")
target_include_directories(sluice_fuzz_support PRIVATE "${PROJECT_SOURCE_DIR}/tests")
target_link_libraries(sluice_fuzz_support PRIVATE
    sluice_flags sluice_dependencies sluice_CMOCKA)

set(SLUICE_N_FUZZERS 0)
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c")
foreach(source IN LISTS sources)
    get_filename_component(fuzzer "${source}" NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" name "${fuzzer}")
    set(folder "${PROJECT_BINARY_DIR}/fuzz-${name}")
    file(MAKE_DIRECTORY "${folder}/corpus")
    add_executable(${fuzzer} "${source}")
    target_link_libraries(${fuzzer} PRIVATE sluice_flags sluice_fuzz_support sluice_static
        sluice_dependencies sluice_CMOCKA)
    target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${fuzzer} COMMAND ${fuzzer} -max_total_time=${SLUICE_FUZZ_SECONDS}
        -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=64 -max_len=4096 -artifact_prefix=${folder}/
        "${folder}/corpus" "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    math(EXPR seconds "${SLUICE_FUZZ_SECONDS} + 120")
    set_tests_properties(${fuzzer} PROPERTIES LABELS fuzz TIMEOUT ${seconds}
        WORKING_DIRECTORY "${folder}" ENVIRONMENT
        "UBSAN_OPTIONS=print_stacktrace=1;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0")
    math(EXPR SLUICE_N_FUZZERS "${SLUICE_N_FUZZERS} + 1")
endforeach()
