"""Ceilings of length: .c 600 lines, .cu 300, .h 250, functions 60, lines of 100 columns.

A function ends with the brace in column 0 and is counted with its signature. What is longer needs
a line in EXCEPTIONS with the reason why it reads better in one piece; a reason that is no longer
needed is a complaint too. clang-format leaves comments alone, so that drawings and tables in them
survive; they may stand a few columns over the margin.
"""
import re

import _tree as tree

FILE_LINES = {".c": 600, ".cu": 300, ".cuh": 300, ".h": 250, ".py": 600}
FUNCTION_LINES = 60
COLUMNS = 100
COMMENT_COLUMNS = 104

# "path" or "path:function": why it may be longer.
EXCEPTIONS = {
}


def functions(code):
    """(name, first line, number of lines) of each function, in code without comments."""
    begin = None
    name = ""
    for number, line in enumerate(code.splitlines(), 1):
        starts = re.match(r"[A-Za-z_]", line)
        if starts and not re.match(r"(typedef|struct|enum|union|extern \"C\")\b", line):
            begin = number
            named = re.search(r"(\w+)\s*\(", line)
            name = named.group(1) if named else name
        elif starts:
            begin = None
        if line.startswith("}"):
            if begin is not None and line.rstrip() == "}":
                yield name, begin, number - begin + 1
            begin = None


complaints = []
used = set()


def complain(key, text):
    if key in EXCEPTIONS:
        used.add(key)
        print(f"allowed: {text} ({EXCEPTIONS[key]})")
    else:
        complaints.append(text)


looked_at = tree.files(*FILE_LINES) + ["sluice.h"]
for path in looked_at:
    text = tree.read(path)
    lines = text.splitlines()
    ceiling = FILE_LINES["." + path.rsplit(".", 1)[1]]
    if len(lines) > ceiling:
        complain(path, f"{path}: {len(lines)} lines, the ceiling is {ceiling}")
    for number, line in enumerate(lines, 1):
        is_comment = re.match(r"\s*(/?\*|#|//)", line)
        most = COMMENT_COLUMNS if is_comment else COLUMNS
        if len(line) > most:
            complain(f"{path}:{number}", f"{path}:{number}: {len(line)} columns, at most {most}")
        if line != line.rstrip() or "\t" in line:
            complain(f"{path}:{number}", f"{path}:{number}: a tab, or space at the end of the line")
    if not text.endswith("\n") or text.endswith("\n\n"):
        complain(path, f"{path}: does not end with exactly one newline")
    if path.endswith((".c", ".cu", ".cuh", ".h")):
        for name, begin, length in functions(tree.code_only(text)):
            if length > FUNCTION_LINES:
                complain(f"{path}:{name}", f"{path}:{begin}: {name} has {length} lines, the "
                         f"ceiling is {FUNCTION_LINES}")

for key in sorted(set(EXCEPTIONS) - used):
    complaints.append(f"{key}: has a reason to be too long, but is not; remove it from the list")
tree.verdict(complaints, f"{len(looked_at)} files")
