/* The imaging job on a card whose tensor cores are found not to add as they should: the same picture by
 * the sine kernel, and the plan says why (cmake/SluiceTests.cmake has the linker send
 * slci_direct_probe here). Without a card with tensor cores the case is skipped. */
#include "tests/support/test_picture.h"

#include <math.h>
#include <string.h>

#include "kernels/direct_probe.h"

#define SIDE 64

static int n_probes;
static bool fails;

slc_status __real_slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                    double *worst);
slc_status __wrap_slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                    double *worst);

slc_status __wrap_slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                    double *worst) {
    n_probes++;
    SLC_TRY(__real_slci_direct_probe(device, assumed, worst));
    *worst = fails ? 1.5 : *worst;
    return SLC_OK;
}

/* The caller frees the picture. */
static double *run(slc_device *device, slc_image_result *result) {
    test_picture p;
    test_picture_init(&p, "data/m87_vlba_8GHz.contig.uvh5", SIDE, SIDE, 1e-9);
    p.options.run.use_device = device;
    n_probes = 0;
    TEST_OK(test_picture_run(&p));
    assert_int_equal(n_probes, 1);
    *result = p.result;
    return p.image;
}

static double largest(const double *a, const double *b) {
    double found = 0.0;
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        found = fmax(found, fabs(a[i] - (b != NULL ? b[i] : 0.0)));
    }
    return found;
}

static void a_failing_probe_is_said_and_the_picture_is_right(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/m87_vlba_8GHz.contig.uvh5", path);
    test_devices devices;
    int n_cards = 0;
    test_devices_open(1, &devices);
    for (int d = 0; d < devices.n; d++) {
        slc_device_limits limits;
        TEST_OK(slc_device_get_limits(devices.device[d], &limits));
        if (slc_direct_unit_get(limits.compute_capability) == SLC_DIRECT_UNIT_NONE) {
            continue;
        }
        n_cards++;
        slc_image_result with, without;
        fails = false;
        double *products = run(devices.device[d], &with);
        fails = true;
        double *sines = run(devices.device[d], &without);
        print_message("%s\n%s\n", with.kernel_why, without.kernel_why);
        assert_true(strstr(with.kernel_why, "by the tensor cores") != NULL);
        assert_string_not_equal(slc_numerics_get(&with.numerics, "matrix_unit"), "none");
        assert_true(strstr(without.kernel_why, "tensor cores cut off more of a sum") != NULL);
        assert_string_equal(slc_numerics_get(&without.numerics, "matrix_unit"), "none");
        assert_true(largest(products, sines) < 2e-6 * largest(sines, NULL));
        free(products);
        free(sines);
    }
    test_devices_close(&devices);
    if (n_cards == 0) {
        print_message("SKIP: no card with tensor cores\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_probe_is_said_and_the_picture_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
