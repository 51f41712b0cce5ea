/* The table-driven command line. */
#include "support/test_support.h"

#include "app/args.h"
#include "core/units.h"

typedef struct numbers {
    int64_t first, second;
} numbers;

typedef struct target {
    bool loud;
    bool brief;
    const char *name;
    int64_t bytes;
    numbers size;
    slci_words files;
} target;

static slc_status parse_bytes(const char *text, void *field) {
    return slci_parse_bytes(text, field);
}

static slc_status parse_size(const char *text, void *field) {
    numbers *size = field;
    return slci_parse_size(text, &size->first, &size->second);
}

static slc_status parse_second(const char *text, void *field) {
    numbers *size = field;
    return slci_parse_integer(text, 1, 1000, &size->second);
}

static const slci_arg args[] = {
    {.help = "Group"},
    {"loud", 'l', NULL, "make noise", offsetof(target, loud), NULL, NULL},
    {"brief", 'b', NULL, "be short", offsetof(target, brief), NULL, NULL},
    {"name", 'n', "TEXT", "a name", offsetof(target, name), slci_arg_text, NULL},
    {"output", 'o', "FILE", "a file, again and again", offsetof(target, files), slci_arg_word,
     NULL},
    {"memory", 0, "SIZE", "how much", offsetof(target, bytes), parse_bytes, NULL},
    {"size", 0, "N | NX NY", "how large", offsetof(target, size), parse_size, parse_second},
};

#define MAX_WORDS 16
static const char *file_words[MAX_WORDS];
static const char *operand_words[MAX_WORDS];

/* Parses the words, which end with NULL. */
static slc_status parse(const char *const *words, target *out, slci_words *operands) {
    char *argv[MAX_WORDS];
    int argc = 0;
    for (; words[argc] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    *out = (target){.files = {file_words, 0}};
    *operands = (slci_words){operand_words, 0};
    const slci_arg_table tables[] = {{args, (int)TEST_COUNT(args), out}};
    return slci_args_parse("prog", tables, 1, argc, argv, operands);
}

#define PARSE(out, operands, ...) parse((const char *const[]){__VA_ARGS__, NULL}, out, operands)

static void reads_every_spelling(void **state) {
    (void)state;
    target t;
    slci_words operands;
    TEST_OK(
        PARSE(&t, &operands, "a", "--memory=4K", "--name", "x", "-o", "f1", "b", "-of2", "-lb"));
    assert_int_equal(t.bytes, 4096);
    assert_string_equal(t.name, "x");
    assert_int_equal(t.files.n, 2);
    assert_string_equal(t.files.words[0], "f1");
    assert_string_equal(t.files.words[1], "f2");
    assert_true(t.loud && t.brief);
    assert_int_equal(operands.n, 2);
    assert_string_equal(operands.words[0], "a");
    assert_string_equal(operands.words[1], "b");
}

static void the_last_value_counts(void **state) {
    (void)state;
    target t;
    slci_words operands;
    TEST_OK(PARSE(&t, &operands, "--memory", "1K", "--memory=2K"));
    assert_int_equal(t.bytes, 2048);
}

static void a_second_place_for_the_only_result_is_refused(void **state) {
    (void)state;
    static const slci_arg one[] = {
        {"output", 'o', "FILE", "a file", offsetof(target, name), slci_arg_text, NULL},
    };
    target t = {.name = NULL};
    const slci_arg_table tables[] = {{one, (int)TEST_COUNT(one), &t}};
    slci_words operands = {operand_words, 0};
    char *const twice[] = {"-o", "f1", "--output=f2"};
    TEST_FAILS(slci_args_parse("prog", tables, 1, 3, twice, &operands), SLC_ERROR_ARGUMENT,
               "--output was given twice, the second time with 'f2'; prog writes one result");
    TEST_OK(slci_args_parse("prog", tables, 1, 2, twice, &operands));
    assert_string_equal(t.name, "f1");
}

static void two_dashes_end_the_options(void **state) {
    (void)state;
    target t;
    slci_words operands;
    TEST_OK(PARSE(&t, &operands, "-l", "--", "--brief", "-x", "--", "-"));
    assert_true(t.loud && !t.brief);
    assert_int_equal(operands.n, 4);
    assert_string_equal(operands.words[0], "--brief");
    assert_string_equal(operands.words[3], "-");
}

static void a_size_takes_one_or_two_words(void **state) {
    (void)state;
    target t;
    slci_words operands;
    TEST_OK(PARSE(&t, &operands, "--size", "5", "7", "file"));
    assert_true(t.size.first == 5 && t.size.second == 7);
    assert_int_equal(operands.n, 1);
    TEST_OK(PARSE(&t, &operands, "--size", "5", "7up"));
    assert_true(t.size.first == 5 && t.size.second == 5);
    assert_int_equal(operands.n, 1);
    TEST_OK(PARSE(&t, &operands, "--size=5", "7"));
    assert_true(t.size.second == 5);
    assert_int_equal(operands.n, 1);
    TEST_OK(PARSE(&t, &operands, "--size", "5x6", "7"));
    assert_true(t.size.second == 6);
    assert_int_equal(operands.n, 1);
    TEST_OK(PARSE(&t, &operands, "--size", "5"));
    TEST_FAILS(PARSE(&t, &operands, "--size", "5", "0"), SLC_ERROR_ARGUMENT, "--size");
    TEST_FAILS(PARSE(&t, &operands, "--size", "5", "99999999999999999999"), SLC_ERROR_ARGUMENT,
               "--size");
}

static void refusals_name_the_option(void **state) {
    (void)state;
    target t;
    slci_words operands;
    TEST_FAILS(PARSE(&t, &operands, "--memory", "4Q"), SLC_ERROR_ARGUMENT, "--memory: '4Q'");
    TEST_FAILS(PARSE(&t, &operands, "--memory", "-1"), SLC_ERROR_ARGUMENT, "--memory: '-1'");
    TEST_FAILS(PARSE(&t, &operands, "--memory="), SLC_ERROR_ARGUMENT, "--memory: ''");
    TEST_FAILS(PARSE(&t, &operands, "--memory"), SLC_ERROR_ARGUMENT, "needs a value: SIZE");
    TEST_FAILS(PARSE(&t, &operands, "-n"), SLC_ERROR_ARGUMENT, "-n needs a value: TEXT");
    TEST_FAILS(PARSE(&t, &operands, "--name="), SLC_ERROR_ARGUMENT, "--name: the value is empty");
    TEST_FAILS(PARSE(&t, &operands, "-o", "--size", "5"), SLC_ERROR_ARGUMENT, "the option --size");
    TEST_FAILS(PARSE(&t, &operands, "--loud=yes"), SLC_ERROR_ARGUMENT, "takes no value");
    TEST_FAILS(PARSE(&t, &operands, ""), SLC_ERROR_ARGUMENT, "empty");
}

static void unknown_options_name_the_nearest(void **state) {
    (void)state;
    target t;
    slci_words operands;
    TEST_FAILS(PARSE(&t, &operands, "--memroy", "4K"), SLC_ERROR_ARGUMENT,
               "did you mean --memory?");
    TEST_FAILS(PARSE(&t, &operands, "--mem=4K"), SLC_ERROR_ARGUMENT,
               "no option --mem; did you mean "
               "--memory?");
    TEST_FAILS(PARSE(&t, &operands, "--siz", "4"), SLC_ERROR_ARGUMENT, "did you mean --size?");
    TEST_FAILS(PARSE(&t, &operands, "-size", "4"), SLC_ERROR_ARGUMENT, "did you mean --size?");
    TEST_FAILS(PARSE(&t, &operands, "--frobnicate"), SLC_ERROR_ARGUMENT, "prog --help lists all");
    /* Two of four letters changed are another word: size is not meant. */
    TEST_FAILS(PARSE(&t, &operands, "--soxe"), SLC_ERROR_ARGUMENT,
               "no option --soxe; prog --help lists all");
    TEST_FAILS(PARSE(&t, &operands, "--xizee"), SLC_ERROR_ARGUMENT, "did you mean --size?");
    TEST_FAILS(PARSE(&t, &operands, "-x"), SLC_ERROR_ARGUMENT, "no option -x");
    char long_word[3000];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    memcpy(long_word, "--", 2);
    TEST_FAILS(PARSE(&t, &operands, long_word), SLC_ERROR_ARGUMENT, "--help lists all");
}

/* Every option with its value and text is in the help, and no line is wider than a page. */
static void help_comes_from_the_table(void **state) {
    (void)state;
    target t = {.loud = false};
    const slci_arg_table tables[] = {{args, (int)TEST_COUNT(args), &t}};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    slci_args_help(out, tables, 1);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\nGroup:\n"));
    for (int64_t i = 1; i < TEST_COUNT(args); i++) {
        char wanted[64];
        (void)snprintf(wanted, sizeof wanted, "--%s%s%s", args[i].name,
                       args[i].value == NULL ? "" : " ",
                       args[i].value == NULL ? "" : args[i].value);
        assert_non_null(strstr(text, wanted));
        assert_non_null(strstr(text, args[i].help));
    }
    for (const char *line = text; *line != '\0';) {
        const size_t width = strcspn(line, "\n");
        assert_true(width <= 88);
        line += width + (line[width] == '\n');
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_spelling),
        cmocka_unit_test(the_last_value_counts),
        cmocka_unit_test(a_second_place_for_the_only_result_is_refused),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_size_takes_one_or_two_words),
        cmocka_unit_test(refusals_name_the_option),
        cmocka_unit_test(unknown_options_name_the_nearest),
        cmocka_unit_test(help_comes_from_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
