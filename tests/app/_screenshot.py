"""Reads a browser's screenshot (PNG, eight bits of RGB or RGBA, not interlaced) with zlib alone."""
import struct
import zlib


def _unfilter(kind, line, before, step):
    """Undoes one row's filter in place; the five kinds are those of the PNG specification, 9.2."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up = before[i]
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        else:
            corner = before[i - step] if i >= step else 0
            estimate = left + up - corner
            nearest = min((abs(estimate - left), 0), (abs(estimate - up), 1),
                          (abs(estimate - corner), 2))[1]
            guess = (left, up, corner)[nearest]
        line[i] = (line[i] + guess) & 255


def read(path):
    """Width, height, and rows of (red, green, blue)."""
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        body = content[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6) and interlace == 0
        if kind == b"IDAT":
            data += body
        at += 12 + length
    step = 3 if colour == 2 else 4
    stride = width * step
    raw = zlib.decompress(data)
    before = bytearray(stride)
    rows = []
    for y in range(height):
        kind = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind != 0:
            _unfilter(kind, line, before, step)
        rows.append([tuple(line[i:i + 3]) for i in range(0, stride, step)])
        before = line
    return width, height, rows
