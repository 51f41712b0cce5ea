"""What the lint tests share: the list of files, text without comments, and the verdict."""
import os
import re
import subprocess
import sys

ROOT = os.environ.get("SLUICE_SOURCE_DIR") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("SLUICE_BUILD_DIR", "")
PROGRAM = os.environ.get("SLUICE_PROGRAM", "")
LIBRARY_FOLDERS = ("core", "ooc", "io", "kernels", "app")
CODE_FOLDERS = LIBRARY_FOLDERS + ("tests", "examples")
SKIPPED = 77


def files(*extensions, folders=CODE_FOLDERS):
    """Paths relative to the root, sorted, with one of the extensions."""
    found = []
    for folder in folders:
        for at, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith(extensions):
                    found.append(os.path.relpath(os.path.join(at, name), ROOT))
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_only(text):
    """The text with comments and the inside of strings blanked; line numbers stay as they are."""
    def blank(match):
        piece = match.group(0)
        if piece.startswith("/"):
            return re.sub(r"[^\n]", " ", piece)
        return piece[0] + " " * (len(piece) - 2) + piece[-1]
    return COMMENT_OR_STRING.sub(blank, text)


def includes(path):
    """(line number, included name, is quoted) of each include."""
    for number, line in enumerate(read(path).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(2), match.group(1) == '"'


def public_headers():
    """What sluice.h includes, and the one header that is opted into."""
    return [name for _, name, quoted in includes("sluice.h") if quoted] + ["core/device_cuda.h"]


def is_program_only(path):
    return re.match(r"app/(main|cmd_[^/]*)\.[ch]$", path) is not None


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT, check=False, **more)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def verdict(complaints, looked_at):
    """Prints every complaint and ends the test."""
    for complaint in complaints:
        print(complaint)
    print(f"{looked_at}; {len(complaints)} complaint{'' if len(complaints) == 1 else 's'}")
    sys.exit(1 if complaints else 0)
