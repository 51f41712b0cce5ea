/* Output files that appear whole or not at all.
 *
 *     begin:   NAME.fits  ->  NAME.part-PID-N.fits, made with O_EXCL in the same folder
 *     commit:  fsync(file), rename to NAME.fits, fsync(folder)
 *
 * Several files are committed together, each step for all before the next one, so that whatever fails
 * leaves none of them: a full disk shows in the first step, and names given before a failure are taken
 * back.
 *
 * Without `overwrite` the rename must not replace a file that has appeared meanwhile: the kernel is
 * asked for that (RENAME_NOREPLACE), and where the file system cannot, a hard link is made, which
 * fails if the name is taken. A symbolic link as the final name is followed first, so that the link
 * stays and its target is replaced. What is not an ordinary file (a folder, a device, a pipe) can
 * neither be synced nor renamed over, and is refused. A file that is replaced hands its access mode
 * on: who hid the old picture hides the new one too. */
#include "io/outfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/file.h"

#define MAX_ATTEMPTS 1000

/* Of a path that is shorter than SLC_PATH_BYTES. */
static void folder_of(const char *path, char folder[SLC_PATH_BYTES]) {
    const bool fits = slci_folder_of(path, folder, SLC_PATH_BYTES);
    assert(fits);
    (void)fits;
}

static const char *name_of(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static const char *describe_mode(mode_t mode) {
    if (S_ISDIR(mode)) {
        return "a folder";
    }
    if (S_ISFIFO(mode)) {
        return "a pipe";
    }
    if (S_ISSOCK(mode)) {
        return "a socket";
    }
    return "a device";
}

/* The name to write to: `path`, shorter than SLC_PATH_BYTES, or what it points at where it is a
 * symbolic link. */
static slc_status follow_link(const char *path, char final_path[SLC_PATH_BYTES]) {
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) {
        memcpy(final_path, path, strlen(path) + 1);
        return SLC_OK;
    }
    char *const target = realpath(path, NULL);
    if (target == NULL) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s is a link whose target cannot be reached: %s; name "
                        "the target itself",
                        path, strerror(errno));
    }
    const size_t n = strlen(target);
    if (n < SLC_PATH_BYTES) {
        memcpy(final_path, target, n + 1);
    }
    free(target);
    if (n >= SLC_PATH_BYTES) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%s is a link to a name of %zu bytes; at most %d work",
                        path, n, SLC_PATH_BYTES - 1);
    }
    return SLC_OK;
}

/* That the final name is free, or an ordinary file that may be replaced. */
static slc_status check_final(const char *path, bool overwrite) {
    struct stat info;
    if (stat(path, &info) != 0) {
        if (errno == ENAMETOOLONG) {
            return SLC_FAIL(SLC_ERROR_OUTPUT, "%s: %s", path, strerror(errno));
        }
        return SLC_OK; /* absent; whether it can be made is seen by making the temporary file */
    }
    if (!S_ISREG(info.st_mode)) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s is %s; the output is renamed into place when it is "
                        "whole, so name an ordinary file",
                        path, describe_mode(info.st_mode));
    }
    if (!overwrite) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%s exists; overwriting (--overwrite) replaces it", path);
    }
    return SLC_OK;
}

static slc_status check_folder(const char *path) {
    char folder[SLC_PATH_BYTES];
    folder_of(path, folder);
    struct stat info;
    if (stat(folder, &info) != 0) {
        const int reason = errno;
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: folder %s: %s%s", path, folder,
                        strerror(reason), reason == ENOENT ? "; make it first" : "");
    }
    if (!S_ISDIR(info.st_mode)) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: %s is not a folder", path, folder);
    }
    return SLC_OK;
}

static slc_status resolve(const char *path, bool overwrite, char final_path[SLC_PATH_BYTES]) {
    const size_t n = strlen(path);
    if (n == 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "the output has an empty name");
    }
    if (n >= SLC_PATH_BYTES) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "the output's name has %zu bytes; at most %d work", n,
                        SLC_PATH_BYTES - 1);
    }
    SLC_TRY(follow_link(path, final_path));
    SLC_TRY(check_final(final_path, overwrite));
    if (path[n - 1] == '/') {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%s names a folder; the output needs a file name", path);
    }
    return check_folder(final_path);
}

/* In a folder with the sticky bit, such as /tmp, only the owner of a file or of the folder may rename
 * another over it (and root, who may do everything). Said here, because otherwise only the rename at
 * the end of the run would say so. */
static slc_status check_sticky(const char *final_path) {
    char folder[SLC_PATH_BYTES];
    folder_of(final_path, folder);
    struct stat of_folder;
    struct stat of_file;
    if (stat(folder, &of_folder) != 0 || stat(final_path, &of_file) != 0 ||
        (of_folder.st_mode & S_ISVTX) == 0) {
        return SLC_OK;
    }
    const uid_t user = geteuid();
    if (user == 0 || user == of_file.st_uid || user == of_folder.st_uid) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_OUTPUT,
                    "%s belongs to another user and cannot be replaced in %s, where everybody "
                    "keeps their own files (sticky bit); name another output",
                    final_path, folder);
}

/* The access mode of the file that is to be replaced; false where there is none. */
static bool find_old_mode(const slc_outfile *out, mode_t *mode) {
    struct stat info;
    if (!out->overwrite || stat(out->final_path, &info) != 0) {
        return false;
    }
    *mode = info.st_mode & 0777;
    return true;
}

/* Makes the temporary file. Its name ends as the final one does, because writers look at that; a
 * name that is near the file system's limit loses the end of its stem. */
static slc_status make_temporary(slc_outfile *out) {
    const char *const final_path = out->final_path;
    char *const temporary = out->temporary_path;
    const char *const name = name_of(final_path);
    mode_t mode = 0666;
    if (find_old_mode(out, &mode)) {
        mode = (mode & 0666) | 0600; /* the writer opens it again */
    }
    const char *const dot = strrchr(name, '.');
    const char *const extension = dot == NULL || dot == name ? name + strlen(name) : dot;
    const size_t extension_bytes = strlen(extension);
    const size_t room = 31; /* ".part-PID-N" with the largest PID and N */
    size_t stem_bytes = (size_t)(extension - name);
    if (stem_bytes + extension_bytes + room > 255) {
        stem_bytes = extension_bytes + room < 255 ? 255 - room - extension_bytes : 0;
        /* Not in the middle of a UTF-8 character. */
        while (stem_bytes > 0 && ((unsigned char)name[stem_bytes] & 0xC0) == 0x80) {
            stem_bytes--;
        }
    }
    const int folder_bytes = (int)(name - final_path);
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        (void)snprintf(temporary, sizeof out->temporary_path, "%.*s%.*s.part-%ld-%d%s",
                       folder_bytes, final_path, (int)stem_bytes, name, (long)getpid(), attempt,
                       extension);
        const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0) {
            (void)close(fd);
            return SLC_OK;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    const int reason = errno;
    temporary[0] = '\0';
    return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: no file can be made in its folder: %s",
                    final_path, strerror(reason));
}

/* That so many bytes fit under the process's own limit for a file. */
static slc_status check_limit(const char *path, int64_t needed_bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (uint64_t)needed_bytes > (uint64_t)limit.rlim_cur) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s needs %lld bytes, and this process may write files of "
                        "at most %llu (ulimit -f)",
                        path, (long long)needed_bytes, (unsigned long long)limit.rlim_cur);
    }
    return SLC_OK;
}

/* That they fit on the file system of `path`; `n_files` share them. */
static slc_status check_space(const char *path, int64_t needed_bytes, int n_files) {
    char folder[SLC_PATH_BYTES];
    folder_of(path, folder);
    struct statvfs space;
    int64_t free_bytes = 0;
    if (statvfs(folder, &space) != 0 ||
        !slc_checked_mul((int64_t)space.f_bavail, (int64_t)space.f_frsize, &free_bytes) ||
        needed_bytes <= free_bytes) {
        return SLC_OK; /* a file system that cannot say is left to the writing */
    }
    if (n_files > 1) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s and the %d output(s) before it on the same file system need %lld bytes "
                        "together, and %s has %lld free; make room there, or name another folder",
                        path, n_files - 1, (long long)needed_bytes, folder, (long long)free_bytes);
    }
    return SLC_FAIL(
        SLC_ERROR_OUTPUT,
        "%s needs %lld bytes, and %s has %lld free; make room there, or name another folder", path,
        (long long)needed_bytes, folder, (long long)free_bytes);
}

slc_status slc_outfile_check(const char *path, bool overwrite, int64_t needed_bytes) {
    slc_outfile probe;
    SLC_TRY(slc_outfile_begin(path, overwrite, &probe));
    slc_status status = check_sticky(probe.final_path);
    if (status == SLC_OK) {
        status = check_limit(probe.final_path, needed_bytes);
    }
    if (status == SLC_OK) {
        status = check_space(probe.final_path, needed_bytes, 1);
    }
    slc_outfile_abandon(&probe);
    return status;
}

/* The file system that `path`, or what it points at, will lie on. */
static slc_status find_device(const char *path, char final_path[SLC_PATH_BYTES], dev_t *device) {
    char folder[SLC_PATH_BYTES];
    struct stat info;
    SLC_TRY(resolve(path, true, final_path));
    folder_of(final_path, folder);
    if (stat(folder, &info) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot write %s: folder %s: %s", path, folder,
                        strerror(errno));
    }
    *device = info.st_dev;
    return SLC_OK;
}

/* For each output the sum of those up to it on its file system: no list of file systems is needed for
 * the few outputs that a run has. */
slc_status slc_outfile_check_room(const slc_outfile_need *needs, int n_needs) {
    for (int i = 0; i < n_needs; i++) {
        char final_path[SLC_PATH_BYTES];
        char other_path[SLC_PATH_BYTES];
        dev_t device = 0;
        dev_t other = 0;
        int64_t sum = needs[i].bytes;
        int n_files = 1;
        SLC_TRY(find_device(needs[i].path, final_path, &device));
        for (int j = 0; j < i; j++) {
            SLC_TRY(find_device(needs[j].path, other_path, &other));
            if (other == device) {
                n_files++;
                sum = slc_checked_add(sum, needs[j].bytes, &sum) ? sum : INT64_MAX;
            }
        }
        SLC_TRY(check_space(final_path, sum, n_files));
    }
    return SLC_OK;
}

slc_status slc_outfile_begin(const char *path, bool overwrite, slc_outfile *out) {
    memset(out, 0, sizeof *out);
    SLC_TRY(resolve(path, overwrite, out->final_path));
    out->overwrite = overwrite;
    return make_temporary(out);
}

static slc_status sync_file(const char *path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot open %s to sync it: %s", path, strerror(errno));
    }
    /* EINVAL: a file that cannot be synced has nothing to sync. */
    const bool is_bad = fsync(fd) != 0 && errno != EINVAL;
    const int reason = errno;
    (void)close(fd);
    if (is_bad) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "%s could not be written to the disk: %s", path,
                        strerror(reason));
    }
    return SLC_OK;
}

/* Gives the temporary file its final name only if that is free. 0 or an errno. */
static int rename_if_free(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    if (link(from, to) != 0) {
        return errno;
    }
    return unlink(from) == 0 ? 0 : errno;
}

/* Everything that can fail before the final name is touched. */
slc_status slc_outfile_prepare(slc_outfile *out) {
    mode_t mode = 0;
    if (out->is_prepared) {
        return SLC_OK;
    }
    SLC_TRY(sync_file(out->temporary_path));
    out->is_replacing = find_old_mode(out, &mode);
    if (out->is_replacing && chmod(out->temporary_path, mode) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot give %s the access mode of %s: %s",
                        out->temporary_path, out->final_path, strerror(errno));
    }
    out->is_prepared = true;
    return SLC_OK;
}

static slc_status give_name(slc_outfile *out) {
    int reason = 0;
    if (!out->overwrite) {
        reason = rename_if_free(out->temporary_path, out->final_path);
    } else if (rename(out->temporary_path, out->final_path) != 0) {
        reason = errno;
    }
    if (reason == EEXIST) {
        return SLC_FAIL(SLC_ERROR_OUTPUT,
                        "%s has appeared during the run; overwriting (--overwrite) replaces it",
                        out->final_path);
    }
    if (reason != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "cannot give %s its name: %s", out->final_path,
                        strerror(reason));
    }
    out->temporary_path[0] = '\0';
    return SLC_OK;
}

static slc_status sync_folder(const slc_outfile *out) {
    if (slci_folder_sync(out->final_path) != 0) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "the name of %s could not be written to the disk: %s",
                        out->final_path, strerror(errno));
    }
    return SLC_OK;
}

/* Removes what has no final name, and what has one that was free before: the caller is told that there
 * is no output. What a replaced file held is gone either way; then the new one is better than none. */
static void take_back(slc_outfile *files, int n_files) {
    for (int i = 0; i < n_files; i++) {
        const bool has_name = files[i].temporary_path[0] == '\0';
        if (has_name && !files[i].is_replacing) {
            (void)unlink(files[i].final_path);
        }
        slc_outfile_abandon(&files[i]);
    }
}

slc_status slc_outfile_commit_all(slc_outfile *files, int n_files) {
    slc_status status = SLC_OK;
    for (int i = 0; i < n_files && status == SLC_OK; i++) {
        status = slc_outfile_prepare(&files[i]);
    }
    for (int i = 0; i < n_files && status == SLC_OK; i++) {
        status = give_name(&files[i]);
    }
    for (int i = 0; i < n_files && status == SLC_OK; i++) {
        status = sync_folder(&files[i]);
    }
    if (status != SLC_OK) {
        take_back(files, n_files);
    }
    return status;
}

slc_status slc_outfile_commit(slc_outfile *out) {
    return slc_outfile_commit_all(out, 1);
}

void slc_outfile_abandon(slc_outfile *out) {
    if (out->temporary_path[0] != '\0') {
        (void)unlink(out->temporary_path);
        out->temporary_path[0] = '\0';
    }
}
