/* The file of a trace, letter for letter. */
#include "tests/support/test_support.h"

#include "app/trace_file.h"
#include "core/version.h"

#define THREAD "    {\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": "
#define SORT "    {\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": 1, \"tid\": "

static const char expected_file[] =
    "{\n"
    "  \"displayTimeUnit\": \"ms\",\n"
    "  \"otherData\": {\n"
    "    \"program\": \"Sluice " SLC_VERSION "\",\n"
    "    \"command\": \"sluice test\",\n"
    "    \"inputs\": [\"a\\\"b\", \"c\"],\n"
    "    \"slices\": 3,\n"
    "    \"slices_dropped\": 0,\n"
    "    \"memory_changes_dropped\": 0,\n"
    "    \"device_limit_bytes\": 0,\n"
    "    \"host_limit_bytes\": 0,\n"
    "    \"copies_in\": {\"seconds\": 16, \"copying\": 8, \"late\": 4, \"device_full\": 2, "
    "\"reading\": 1, \"nobody_reads\": 0.5, \"threads_reading\": 0.25}\n"
    "  },\n"
    "  \"traceEvents\": [\n"
    "    {\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": "
    "{\"name\": \"sluice test\"}},\n" THREAD "10000, \"args\": {\"name\": \"run\"}},\n" SORT
    "10000, \"args\": {\"sort_index\": 10000}},\n"
    "    {\"name\": \"survey\", \"ph\": \"X\", \"pid\": 1, \"tid\": 10000, "
    "\"cat\": \"phase\", \"ts\": -0.007, \"dur\": 0.000, \"args\": {}},\n" THREAD
    "20000, \"args\": {\"name\": \"scheduler\"}},\n" SORT
    "20000, \"args\": {\"sort_index\": 20000}},\n"
    "    {\"name\": \"wait for a read\", \"ph\": \"X\", \"pid\": 1, \"tid\": 20000, "
    "\"cat\": \"wait\", \"ts\": 0.000, \"dur\": 0.000, \"args\": {\"tile\": 3}},\n" THREAD
    "30001, \"args\": {\"name\": \"thread 1\"}},\n" SORT
    "30001, \"args\": {\"sort_index\": 30001}},\n"
    "    {\"name\": \"read\", \"ph\": \"X\", \"pid\": 1, \"tid\": 30001, "
    "\"cat\": \"read\", \"ts\": 1.500, \"dur\": 2000.001, "
    "\"args\": {\"tile\": 3, \"bytes\": 4096}}\n"
    "  ]\n"
    "}\n";

static void every_kind_of_event_is_written(void **state) {
    (void)state;
    slc_trace *trace = NULL;
    slc_budget *budget = NULL;
    TEST_OK(slc_trace_create(4096, &trace));
    const int64_t origin_ns = slc_trace_origin_ns(trace);
    const slc_trace_slice slices[] = {
        {.stage = SLC_TRACE_READ,
         .lane = 1,
         .tile = 3,
         .begin_ns = origin_ns + 1500,
         .duration_ns = 2000001,
         .bytes = 4096},
        {.stage = SLC_TRACE_WAIT, .name = "wait for a read", .tile = 3, .begin_ns = origin_ns},
        {.stage = SLC_TRACE_PHASE, .name = "survey", .tile = -1, .begin_ns = origin_ns - 7},
    };
    for (int64_t i = 0; i < TEST_COUNT(slices); i++) {
        slc_trace_add(trace, &slices[i]);
    }
    TEST_OK(slc_budget_create(100, 200, &budget));
    slc_trace_settle(trace);
    const char *const inputs[] = {"a\"b", "c"};
    const int64_t ns = 1000000000;
    const slc_trace_feed feed = {.total_ns = 16 * ns,
                                 .copying_ns = 8 * ns,
                                 .ready_ns = 4 * ns,
                                 .full_ns = 2 * ns,
                                 .reading_ns = ns,
                                 .unread_ns = ns / 2,
                                 .thread_ns = ns / 4};
    const slci_trace_about about = {"sluice test", inputs, 2, feed};
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    slci_trace_write(file, trace, &about);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, expected_file);
    free(text);
    slc_budget_destroy(budget);
    slc_trace_destroy(trace);
}

static void counters_follow_the_ledger(void **state) {
    (void)state;
    slc_trace *trace = NULL;
    slc_budget *budget = NULL;
    TEST_OK(slc_trace_create(4096, &trace));
    TEST_OK(slc_budget_create(100, 200, &budget));
    slc_trace_watch(trace, budget);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_HOST, 150, "x"));
    slc_trace_settle(trace);
    const slci_trace_about about = {.command = "sluice test"};
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    slci_trace_write(file, trace, &about);
    assert_int_equal(fclose(file), 0);
    static const char *const words[] = {
        "\"device_limit_bytes\": 100,", "\"host_limit_bytes\": 200,\n",
        "{\"name\": \"device memory\", \"ph\": \"C\", \"pid\": 1, \"tid\": 0, \"ts\": ",
        "\"args\": {\"bytes\": 150}}\n  ]"};
    for (int64_t i = 0; i < TEST_COUNT(words); i++) {
        assert_non_null(strstr(text, words[i]));
    }
    free(text);
    slc_budget_destroy(budget);
    slc_trace_destroy(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_event_is_written),
        cmocka_unit_test(counters_follow_the_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
