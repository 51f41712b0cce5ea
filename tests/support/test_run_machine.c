#include "tests/support/test_run_machine.h"

static void open_machine(int64_t vram_bytes, test_run_machine *self) {
    self->machine = (slci_machine){0};
    self->options = (slc_run_options){.vram_bytes = vram_bytes,
                                      .ram_bytes = 64 << 20,
                                      .use_device = self->fixture.device};
    TEST_OK(slci_machine_open(&self->options, &self->machine));
}

void test_run_machine_open(const void *on, test_run_machine *out) {
    test_fixture_open(on, &out->fixture);
    open_machine(64 << 20, out);
}

void test_run_machine_open_small(const void *on, test_run_machine *out) {
    test_fixture_open(on, &out->fixture);
    open_machine(4096, out);
}

void test_run_machine_open_failing(const slc_check_options *check, test_run_machine *out) {
    test_fixture_open_failing(check, &out->fixture);
    open_machine(64 << 20, out);
}

void test_run_machine_close(test_run_machine *self) {
    assert_int_equal(slci_machine_held_bytes(&self->machine), 0);
    slci_machine_close(&self->machine);
    test_fixture_close(&self->fixture);
}
