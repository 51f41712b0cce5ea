#include "tests/support/test_child.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

slc_failure test_child_run(test_child_body body, void *context) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        slc_failure found;
        memset(&found, 0, sizeof found);
        slc_status_capture(body(context), &found);
        const ssize_t written = write(ends[1], &found, sizeof found);
        exit(written == (ssize_t)sizeof found ? 0 : 1);
    }
    (void)close(ends[1]);
    slc_failure found;
    memset(&found, 0, sizeof found);
    const ssize_t n = read(ends[0], &found, sizeof found);
    (void)close(ends[0]);
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    if (WIFSIGNALED(state)) {
        fail_msg("the child died of signal %d", WTERMSIG(state));
    }
    assert_int_equal(WEXITSTATUS(state), 0);
    assert_int_equal(n, sizeof found);
    return found;
}

void test_child_expect(const slc_failure *found, slc_status status, const char *words) {
    if (found->status != status || strstr(found->message, words) == NULL) {
        fail_msg("expected %s with '%s', found %s: %s", slc_status_name(status), words,
                 slc_status_name(found->status), found->message);
    }
}

void test_limit_file_size(int64_t bytes) {
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
    (void)setrlimit(RLIMIT_FSIZE, &limit);
}

bool test_become_nobody(void) {
    return geteuid() == 0 && setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
}

bool test_mount_small(const char *directory, int64_t bytes) {
    char options[64];
    (void)snprintf(options, sizeof options, "size=%lld", (long long)bytes);
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", directory, "tmpfs", 0, options) == 0;
}
