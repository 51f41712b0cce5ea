/* A plain set in an .npz archive: members u, v, w and data (or vis), perhaps weight and flags, each a
 * .npy file, stored or deflated (numpy.savez and savez_compressed).
 * A deflated member cannot be read from the middle, so all members are held in memory, decompressed:
 * for 10^6 visibilities 40 MB. Larger sets belong into HDF5. The .npy format is that of NumPy's
 * document NEP 1: magic, version, length of a header, the header as a Python dictionary, data. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "core/checked.h"
#include "io/vis_plain.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
/* Magic, two bytes of version, four (two in version 1) bytes of length. */
#define PREAMBLE_BYTES 12
/* Plain arrays have headers of 128 bytes; more is a structured type. */
#define MAX_HEADER_BYTES 65536
/* Deflate cannot do better than 1032 to 1, so a member that claims more is damaged or hostile. */
#define MAX_RATIO 1032

/* What is read once for each member. */
typedef struct member {
    const char *path, *name;
    zip_file_t *file;
    int64_t bytes, stored_bytes; /* decompressed and in the archive */
} member;

static slc_status read_exactly(const member *from, void *out, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes) {
        const zip_int64_t got =
            zip_fread(from->file, (char *)out + done, (zip_uint64_t)(bytes - done));
        if (got <= 0) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: member %s: %" PRId64 " bytes found, %" PRId64 " expected (%s)",
                            from->path, from->name, done, bytes,
                            got < 0 ? zip_error_strerror(zip_file_get_error(from->file))
                                    : "the end is missing");
        }
        done += got;
    }
    return SLC_OK;
}

/* The text after 'key': in the dictionary, or NULL. */
static const char *find_value(const char *header, const char *key) {
    char quoted[32];
    (void)snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *found = strstr(header, quoted);
    if (found == NULL) {
        return NULL;
    }
    found += strlen(quoted);
    while (*found == ' ' || *found == ':') {
        found++;
    }
    return found;
}

/* "'<f8'": byte order, kind, bytes. */
static bool parse_type(const char *text, slci_element *type) {
    if (text == NULL || text[0] != '\'' || strlen(text) < 4) {
        return false;
    }
    char *end = NULL;
    const long bytes = strtol(text + 3, &end, 10);
    const char kind = text[2];
    memset(type, 0, sizeof *type);
    type->is_big_endian = text[1] == '>';
    type->bytes = bytes;
    type->part_bytes = bytes;
    if (*end != '\'' || strchr("<>|=", text[1]) == NULL) {
        return false;
    }
    if (kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)) {
        type->kind = SLCI_ELEMENT_FLOAT;
    } else if (kind == 'c' && (bytes == 8 || bytes == 16)) {
        type->kind = SLCI_ELEMENT_COMPLEX_FLOAT;
        type->part_bytes = bytes / 2;
        type->imag_offset = bytes / 2;
    } else if ((kind == 'i' || kind == 'u') &&
               (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
        type->kind = kind == 'i' ? SLCI_ELEMENT_INT : SLCI_ELEMENT_UINT;
    } else if (kind == 'b' && bytes == 1) {
        type->kind = SLCI_ELEMENT_UINT;
        type->is_enum = true;
    }
    return true;
}

/* "(3150, 2)", "(3150,)", "()". */
static bool parse_shape(const char *text, slci_h5_dataset *set) {
    if (text == NULL || *text != '(') {
        return false;
    }
    text++;
    set->rank = 0;
    while (*text != ')') {
        int64_t extent = 0;
        if (*text < '0' || *text > '9' || set->rank == SLC_MAX_RANK) {
            return false;
        }
        while (*text >= '0' && *text <= '9') {
            if (!slc_checked_mul(extent, 10, &extent) ||
                !slc_checked_add(extent, *text - '0', &extent)) {
                return false;
            }
            text++;
        }
        set->shape[set->rank++] = extent;
        while (*text == ',' || *text == ' ' || *text == 'L') {
            text++;
        }
    }
    return true;
}

/* "'|O'", or a field of a record that is one. What is saved so is a pickle, which only Python reads. */
static bool holds_objects(const char *descr) {
    const char *end = descr == NULL ? NULL : strstr(descr, "'fortran_order'");
    const char *object = descr == NULL ? NULL : strstr(descr, "'|O'");
    return object != NULL && (end == NULL || object < end);
}

static slc_status parse_header(const member *from, const char *header, slci_h5_dataset *set) {
    const char *order = find_value(header, "fortran_order");
    const char *descr = find_value(header, "descr");
    const char *end = strrchr(header, '}'); /* spaces behind it fill the header up */
    if (holds_objects(descr)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: member %s holds Python objects (dtype object), expected numbers; save "
                        "it as numbers, such as numpy.array(%s.tolist())",
                        from->path, from->name, from->name);
    }
    if (!parse_type(descr, &set->type) || !parse_shape(find_value(header, "shape"), set) ||
        order == NULL || set->type.kind == SLCI_ELEMENT_OTHER) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: member %s is not an array of plain numbers: %.*s; expected i1 to i8, "
                        "u1 to u8, f2, f4, f8, c8, c16 or bool, in numpy's names",
                        from->path, from->name,
                        end == NULL ? 0 : (int)slc_min_i64(end - header + 1, 100), header);
    }
    if (strncmp(order, "False", 5) != 0 && set->rank > 1) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: member %s is in Fortran order: not supported; save "
                        "numpy.ascontiguousarray(...) of it",
                        from->path, from->name);
    }
    slci_element_text(&set->type, set->type_text, sizeof set->type_text);
    set->path = from->path;
    (void)snprintf(set->name, sizeof set->name, "%s", from->name);
    set->member_bytes = from->stored_bytes;
    return SLC_OK;
}

/* Reads up to the first byte of data; *used is how many bytes that took. */
static slc_status read_header(const member *from, slci_h5_dataset *set, int64_t *used) {
    unsigned char start[PREAMBLE_BYTES];
    SLC_TRY(read_exactly(from, start, 10));
    if (memcmp(start, MAGIC, MAGIC_BYTES) != 0 || start[6] < 1 || start[6] > 3) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: member %s is not a .npy file of version 1 to 3",
                        from->path, from->name);
    }
    int64_t length = start[8] + 256 * (int64_t)start[9];
    *used = 10;
    if (start[6] > 1) {
        SLC_TRY(read_exactly(from, start + 10, 2));
        length += (int64_t)start[10] * 65536 + (int64_t)start[11] * 16777216;
        *used = PREAMBLE_BYTES;
    }
    if (length > MAX_HEADER_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: member %s has a header of %" PRId64 " bytes",
                        from->path, from->name, length);
    }
    char *header = malloc((size_t)length + 1);
    if (header == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for member %s", from->path, from->name);
    }
    slc_status status = read_exactly(from, header, length);
    if (status == SLC_OK) {
        header[length] = '\0';
        *used += length;
        status = parse_header(from, header, set);
    }
    free(header);
    return status;
}

static slc_status read_member(const member *from, slci_plain_column *column) {
    int64_t used = 0;
    slci_h5_dataset *set = &column->set;
    SLC_TRY(read_header(from, set, &used));
    int64_t bytes = set->type.bytes;
    bool is_right = true;
    for (int d = 0; d < set->rank; d++) {
        is_right = is_right && slc_checked_mul(bytes, set->shape[d], &bytes);
    }
    if (!is_right || bytes != from->bytes - used) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: member %s has %" PRId64 " bytes of data, its shape says %" PRId64,
                        from->path, from->name, from->bytes - used, is_right ? bytes : INT64_MAX);
    }
    unsigned char *memory = malloc((size_t)slc_max_i64(bytes, 1));
    if (memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY,
                        "%s: no memory for the %" PRId64 " bytes of member %s; an .npz is held "
                        "whole, HDF5 is not",
                        from->path, bytes, from->name);
    }
    slc_status status = read_exactly(from, memory, bytes);
    char more;
    if (status == SLC_OK && zip_fread(from->file, &more, 1) != 0) { /* checks the checksum too */
        status =
            SLC_FAIL(SLC_ERROR_INPUT, "%s: member %s is damaged: %s; copy the file again",
                     from->path, from->name, zip_error_strerror(zip_file_get_error(from->file)));
    }
    if (status != SLC_OK) {
        free(memory);
        return status;
    }
    column->memory = memory;
    return SLC_OK;
}

/* One that libzip does not open. */
static slc_status refuse_member(const member *from, const zip_stat_t *info, const char *why) {
    if ((info->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && info->encryption_method != ZIP_EM_NONE) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: member %s is encrypted: not supported; save it without a password, as "
                        "numpy.savez does",
                        from->path, from->name);
    }
    if ((info->valid & ZIP_STAT_COMP_METHOD) != 0 && info->comp_method != ZIP_CM_STORE &&
        info->comp_method != ZIP_CM_DEFLATE) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: member %s is compressed by method %d of zip: %s; expected 0 (stored) "
                        "or 8 (deflated), as numpy.savez and savez_compressed write them",
                        from->path, from->name, (int)info->comp_method, why);
    }
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: member %s cannot be opened: %s", from->path, from->name,
                    why);
}

static slc_status read_column(zip_t *archive, const char *path, const char *name, zip_int64_t index,
                              slci_plain_column *column) {
    zip_stat_t info;
    if (zip_stat_index(archive, (zip_uint64_t)index, 0, &info) != 0 ||
        (info.valid & (ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE)) !=
            (ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE) ||
        info.size > INT64_MAX || info.comp_size > INT64_MAX / MAX_RATIO ||
        info.size > info.comp_size * MAX_RATIO) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: member %s: impossible sizes in the archive", path,
                        name);
    }
    const member from = {
        .path = path,
        .name = name,
        .file = zip_fopen_index(archive, (zip_uint64_t)index, 0),
        .bytes = (int64_t)info.size,
        .stored_bytes = (int64_t)info.comp_size,
    };
    if (from.file == NULL) {
        return refuse_member(&from, &info, zip_strerror(archive));
    }
    const slc_status status = read_member(&from, column);
    (void)zip_fclose(from.file);
    return status;
}

static slc_status read_columns(slci_plain *plain, zip_t *archive) {
    for (int i = 0; i < SLCI_PLAIN_MEMBERS; i++) {
        const slci_plain_member *known = &slci_plain_members[i];
        slci_plain_column *column = &plain->columns[known->column];
        char name[16];
        (void)snprintf(name, sizeof name, "%s.npy", known->name);
        const zip_int64_t index = zip_name_locate(archive, name, 0);
        if (index >= 0 && column->memory != NULL) {
            slci_plain_ignore(plain, known->name);
        } else if (index >= 0) {
            SLC_TRY(read_column(archive, plain->base.path, known->name, index, column));
        }
    }
    return SLC_OK;
}

/* A member that is in a folder of the archive is none of the set's, and numpy.load does not find it
 * either; but where the set lacks it, that is why. */
static slc_status look_in_folders(slci_plain *plain, zip_t *archive) {
    for (int i = 0; i < SLCI_PLAIN_MEMBERS; i++) {
        const slci_plain_member *known = &slci_plain_members[i];
        const bool is_wanted = known->column <= SLCI_PLAIN_VIS;
        char name[16];
        (void)snprintf(name, sizeof name, "%s.npy", known->name);
        const zip_int64_t index = is_wanted && plain->columns[known->column].memory == NULL
                                      ? zip_name_locate(archive, name, ZIP_FL_NODIR)
                                      : -1;
        if (index >= 0) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: member %s is missing, but %.200s is in a folder of the archive; "
                            "expected %s outside of folders, as numpy.savez saves it",
                            plain->base.path, known->name,
                            zip_get_name(archive, (zip_uint64_t)index, 0), name);
        }
    }
    return SLC_OK;
}

/* Says what else is in the archive, under the names that numpy.load shows. */
static void note_others(slci_plain *plain, zip_t *archive) {
    const zip_int64_t n = zip_get_num_entries(archive, 0);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *file_name = zip_get_name(archive, (zip_uint64_t)i, 0);
        char name[64];
        if (file_name == NULL) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%s", file_name);
        const size_t length = strlen(name);
        if (length > 4 && strcmp(name + length - 4, ".npy") == 0) {
            name[length - 4] = '\0';
        }
        slci_plain_ignore_unknown(plain, name);
    }
}

static slc_status read_archive(slci_plain *plain) {
    const char *path = plain->base.path;
    int code = 0;
    zip_t *archive = zip_open(path, ZIP_RDONLY, &code);
    if (archive == NULL) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const slc_status status =
            SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened as .npz: %s%s", path,
                     zip_error_strerror(&error),
                     code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS
                         ? ": the list of its members, which comes last, is damaged or missing; "
                           "copy the file again"
                         : "");
        zip_error_fini(&error);
        return status;
    }
    slc_status status = read_columns(plain, archive);
    if (status == SLC_OK) {
        status = look_in_folders(plain, archive);
    }
    if (status == SLC_OK) {
        note_others(plain, archive);
    }
    zip_discard(archive);
    return status;
}

slc_status slci_npz_open(const char *path, const slc_vis_options *options, slci_vis_part **out) {
    slci_plain *plain = NULL;
    SLC_TRY(slci_plain_create(path, "npz", &plain));
    slc_status status = SLC_OK;
    plain->base.header.is_place_assumed = true;
    SLC_TRY_GOTO(failed, read_archive(plain));
    SLC_TRY_GOTO(failed, slci_plain_check(plain, options));
    *out = &plain->base;
    return SLC_OK;
failed:
    slci_plain_destroy(plain);
    return status;
}
