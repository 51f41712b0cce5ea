#include "tests/support/test_support.h"

void test_devices_open(int n_threads, test_devices *devices) {
    memset(devices, 0, sizeof *devices);
    TEST_OK(slc_pool_create(n_threads, &devices->pool));
    const slc_device_choice choices[TEST_MAX_DEVICES] = {SLC_CHOOSE_HOST, SLC_CHOOSE_CUDA};
    for (int i = 0; i < TEST_MAX_DEVICES; i++) {
        const slc_device_options options = {.choice = choices[i], .pool = devices->pool};
        const slc_status status = slc_device_create(&options, &devices->device[devices->n]);
        if (status == SLC_OK) {
            devices->n++;
        } else if (choices[i] == SLC_CHOOSE_HOST) {
            TEST_OK(status);
        } else {
            print_message("not on CUDA: %s\n", slc_status_message());
        }
    }
}

void test_devices_close(test_devices *devices) {
    for (int i = 0; i < devices->n; i++) {
        slc_device_destroy(devices->device[i]);
    }
    slc_pool_destroy(devices->pool);
    memset(devices, 0, sizeof *devices);
}

const char *test_device_name(const slc_device *device) {
    return device->kind == SLC_DEVICE_CUDA ? "cuda" : "host";
}
