#include "core/status.h"

#include <stdbool.h>
#include <string.h>

#include "core/print.h"

static _Thread_local char thread_message[SLC_MESSAGE_BYTES];

static const struct {
    const char *name;
    const char *text;
    int exit_code;
} status_table[SLC_STATUS_COUNT] = {
#define SLC_STATUS_ROW(code, exit_code_, text_) [code] = {#code, text_, exit_code_},
    SLC_STATUS_MAP(SLC_STATUS_ROW)
#undef SLC_STATUS_ROW
};

static bool is_known(slc_status status) {
    return (unsigned)status < (unsigned)SLC_STATUS_COUNT;
}

const char *slc_status_name(slc_status status) {
    return is_known(status) ? status_table[status].name : "unknown status";
}

const char *slc_status_text(slc_status status) {
    return is_known(status) ? status_table[status].text : "unknown status";
}

int slc_status_exit_code(slc_status status) {
    return is_known(status) ? status_table[status].exit_code
                            : status_table[SLC_ERROR_INTERNAL].exit_code;
}

const char *slc_status_message(void) {
    return thread_message;
}

/* Messages quote names and texts of files, which may hold anything; a message is one line. */
static void replace_controls(char *text) {
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte < ' ' || byte == 127) {
            *text = '?';
        }
    }
}

slc_status slc_status_fail(slc_status status, const char *format, ...) {
    /* The arguments may point into the old message, so the new one is built beside it. */
    char message[SLC_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(message, sizeof message, format, arguments);
    va_end(arguments);
    replace_controls(message);
    memcpy(thread_message, message, sizeof thread_message);
    return status;
}

slc_status slc_status_prefix(slc_status status, const char *format, ...) {
    char prefix[SLC_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)slci_vprint(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    return slc_status_fail(status, "%s: %s", prefix, thread_message);
}

void slc_status_capture(slc_status status, slc_failure *out) {
    out->status = status;
    memcpy(out->message, thread_message, sizeof out->message);
}

slc_status slc_status_restore(const slc_failure *failure) {
    memcpy(thread_message, failure->message, sizeof thread_message);
    return failure->status;
}
