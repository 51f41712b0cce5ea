#!/usr/bin/env python3
"""Makes the small seeds of tests/fuzz/corpus: one good chunk of every compression, and chunks under
every index of HDF5's newer forms.

    python3 tests/fuzz/make_corpus.py tests/fuzz/corpus

The libraries are called directly, so the chunks are those of other encoders than Sluice's. The
bytes in front are what fuzz_chunk.c and fuzz_h5_chunks.c say. Seeds of a library that is not here
are left as they are.
"""
import ctypes
import ctypes.util
import os
import struct
import sys
import zlib

SHUFFLE, DEFLATE, FLETCHER, ZSTD, BITSHUFFLE, LZ4, LZF, BLOSC, SZIP = range(9)
ELEMENT = 8
RAW = b"".join(struct.pack("<ff", 100 + k % 7, k // 9 * 0.5) for k in range(300))


def library(name):
    path = ctypes.util.find_library(name)
    return ctypes.CDLL(path) if path else None


zstd, lz4, blosc, szip = (library(name) for name in ("zstd", "lz4", "blosc", "sz"))


def call(function):
    """What a compressor makes, given room; it returns how many bytes."""
    room = ctypes.create_string_buffer(4 * len(RAW) + 4096)
    made = function(room)
    return room.raw[:made]


def zstd_frame(raw):
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    return call(lambda room: zstd.ZSTD_compress(
        room, ctypes.c_size_t(len(room)), raw, ctypes.c_size_t(len(raw)), 5))


def lz4_block(raw):
    return call(lambda room: lz4.LZ4_compress_default(raw, room, len(raw), len(room)))


def blosc_chunk(raw, compressor, shuffle):
    return call(lambda room: blosc.blosc_compress_ctx(
        5, shuffle, ctypes.c_size_t(ELEMENT), ctypes.c_size_t(len(raw)), raw, room,
        ctypes.c_size_t(len(room)), compressor, ctypes.c_size_t(0), 1))


def szip_stream(raw, values):
    options, block, bits, line = values
    room = ctypes.create_string_buffer(4 * len(raw) + 4096)
    made = ctypes.c_size_t(len(room))
    parameters = (ctypes.c_int * 4)(options, bits, block, line)
    code = szip.SZ_BufftoBuffCompress(room, ctypes.byref(made), raw, ctypes.c_size_t(len(raw)),
                                      parameters)
    assert code == 0, code
    return struct.pack("<I", len(raw)) + room.raw[:made.value]


def lzf_stream(raw):
    """Literals, and a copy wherever four bytes repeat at a distance of 8."""
    out, at, literals = b"", 0, b""

    def flush():
        pieces = [literals[k:k + 32] for k in range(0, len(literals), 32)]
        return b"".join(bytes([len(piece) - 1]) + piece for piece in pieces)

    while at < len(raw):
        n = 0
        while at >= 8 and at + n < len(raw) and n < 264 and raw[at + n] == raw[at + n - 8]:
            n += 1
        if n < 4:
            literals += raw[at:at + 1]
            at += 1
            continue
        out += flush() + (bytes([(n - 2) << 5, 7]) if n < 9 else bytes([7 << 5, n - 9, 7]))
        literals = b""
        at += n
    return out + flush()


def shuffled(raw):
    return b"".join(raw[b::ELEMENT] for b in range(ELEMENT))


def fletcher(raw):
    first = second = 0
    for word in struct.unpack(f">{(len(raw) + 1) // 2}H", raw + bytes(len(raw) % 2)):
        first = (first + word) % 65535
        second = (second + first) % 65535
    return raw + struct.pack("<HH", first, second)


def bits(raw):
    """One block, its bits transposed."""
    n = len(raw) // ELEMENT
    out = bytearray(len(raw))
    for e in range(n):
        for bit in range(8 * ELEMENT):
            if raw[e * ELEMENT + bit // 8] >> bit % 8 & 1:
                out[(bit * n + e) // 8] |= 1 << (bit * n + e) % 8
    return bytes(out)


def bitshuffled(raw, encode):
    block = 64 * ELEMENT
    out = struct.pack(">QI", len(raw), block) if encode else b""
    whole = len(raw) // (8 * ELEMENT) * 8 * ELEMENT
    for k in range(0, whole, block):
        piece = bits(raw[k:min(k + block, whole)])
        stored = encode(piece) if encode else piece
        out += (struct.pack(">I", len(stored)) if encode else b"") + stored
    return out + raw[whole:]


def lz4_blocks(raw, block):
    out = struct.pack(">QI", len(raw), block)
    for k in range(0, len(raw), block):
        stored = lz4_block(raw[k:k + block])
        out += struct.pack(">I", len(stored)) + stored
    return out


def seeds(raw):
    """(name, filters with their five bytes, stored)"""
    yield "none", [], raw
    yield "shuffle", [(SHUFFLE,)], shuffled(raw)
    yield "fletcher", [(FLETCHER,)], fletcher(raw)
    yield "deflate", [(DEFLATE,)], zlib.compress(raw, 6)
    yield "shuffle_deflate_fletcher", [(SHUFFLE,), (DEFLATE,), (FLETCHER,)], fletcher(
        zlib.compress(shuffled(raw), 9))
    yield "fletcher_shuffle_deflate", [(FLETCHER,), (SHUFFLE,), (DEFLATE,)], zlib.compress(
        shuffled(fletcher(raw)[:-4]) + fletcher(raw)[-4:], 6)
    yield "lzf", [(LZF,)], lzf_stream(raw)
    yield "bitshuffle", [(BITSHUFFLE, 0, 3, ELEMENT, 8, 0)], bitshuffled(raw, None)
    if zstd:
        yield "shuffle_zstd", [(SHUFFLE,), (ZSTD,)], zstd_frame(shuffled(raw))
        yield "bitshuffle_zstd", [(BITSHUFFLE, 0, 3, ELEMENT, 8, 3)], bitshuffled(raw, zstd_frame)
    if lz4:
        yield "lz4", [(LZ4,)], lz4_blocks(raw, 1000)
        yield "bitshuffle_lz4", [(BITSHUFFLE, 0, 3, ELEMENT, 8, 2)], bitshuffled(raw, lz4_block)
    if blosc:
        for name in (b"blosclz", b"lz4", b"zlib", b"zstd"):
            for shuffle in (1, 2):
                stored = blosc_chunk(raw, name, shuffle)
                yield f"blosc_{name.decode()}_{shuffle}", [(BLOSC,)], stored
    if szip:
        for name, values in (("8", (32, 16, 8, 32)), ("nn64", (16 + 32, 8, 64, 30))):
            yield "szip_" + name, [(SZIP, *values)], szip_stream(raw, values)


def filter_bytes(filters):
    return b"".join(bytes(values) + bytes(6 - len(values)) for values in filters)


def write(folder, name, seed):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(seed)


RANK_2, NEW, CHANGES = 4, 8, 2 << 5
GROWS_FIRST, GROWS_BOTH, EARLY = 16, 48, 64

# Name, byte 0, byte 1, elements and those of a chunk along two dimensions, chunks that are written. A
# fixed array has pages where there are over 1024 chunks, one that grows super blocks from chunk 244 on.
INDICES = [("fixed", NEW, 0, (40, 1), (2, 1), range(20)),
           ("fixed_paged", NEW | RANK_2, 0, (64, 64), (1, 2), (0, 1023, 1024, 2047)),
           ("single", NEW, 0, (40, 1), (40, 1), (0,)),
           ("growing", NEW, GROWS_FIRST, (40, 1), (2, 1), range(20)),
           ("growing_super", NEW | RANK_2, GROWS_FIRST, (64, 64), (1, 2),
            (0, 3, 243, 244, 400, 2047)),
           ("tree", NEW | RANK_2, GROWS_BOTH, (8, 8), (2, 2), range(16)),
           ("tree_deep", NEW | RANK_2, GROWS_BOTH, (32, 32), (1, 2), range(0, 512, 3))]


def indices():
    """(name, seed): each with chunks of numbers, of encoded ones, and with changes of a block"""
    for name, form, growth, shape, chunk, places in INDICES:
        raw = RAW[:chunk[0] * chunk[1] * ELEMENT]
        encoded = zlib.compress(shuffled(raw))
        for filters, stored in (([], raw), ([(SHUFFLE,), (DEFLATE,)], encoded)):
            shape_bytes = bytes([shape[0] - 1, shape[1] - 1, chunk[0] - 1, chunk[1] - 1])
            pieces = b"".join(bytes([place & 255, place >> 8 << 3]) +
                              struct.pack("<H", len(stored)) + stored for place in places)
            tail = filter_bytes(filters)
            first = form | len(filters)
            full = name + ("_deflate" if filters else "")
            yield full, bytes([first, 3 | growth]) + shape_bytes + tail + pieces
            for k, changes in enumerate((bytes([1, 9, 96, 5, 2, 20, 128, 6]),
                                         bytes([2, 14, 32, 4, 2, 22, 32, 7]))):
                yield (f"{full}_changed_{k}", bytes([first | CHANGES, 3 | growth]) + shape_bytes +
                       tail + changes + pieces)
    yield "implicit", bytes([NEW, 3 | EARLY, 39, 0, 1, 0]) + bytes([3, 0, 16, 0]) + RAW[:16]
    yield ("implicit_changed", bytes([NEW | CHANGES, 3 | EARLY, 39, 0, 1, 0]) +
           bytes([0, 14, 128, 6, 0, 8, 32, 7]) + bytes([3, 0, 16, 0]) + RAW[:16])


def main():
    chunk, dataset = (os.path.join(sys.argv[1], name) for name in ("chunk", "h5_chunks"))
    for name, filters, stored in seeds(RAW):
        head = bytes([len(filters), 0]) + struct.pack("<HB", len(RAW) - 1, ELEMENT - 1)
        write(chunk, name, head + filter_bytes(filters) + stored)
    # 64 numbers of 8 bytes in one chunk, a second time with what the index says of it changed.
    raw = RAW[:64 * ELEMENT]
    for name, filters, stored in seeds(raw):
        shape = bytes([3, 63, 0, 63, 0])
        piece = bytes([0, 0]) + struct.pack("<H", len(stored)) + stored
        write(dataset, name, bytes([len(filters)]) + shape + filter_bytes(filters) + piece)
        write(dataset, name + "_changed", bytes([len(filters) | 1 << 5]) + shape +
              filter_bytes(filters) + bytes([0, 0, 2, 0]) + piece)
    for name, seed in indices():
        write(dataset, "index_" + name, seed)


main()
