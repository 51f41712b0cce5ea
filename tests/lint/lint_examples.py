"""The example in a header's first comment fits the functions as they are declared: each is there,
is called with as many arguments as it has, and what SLC_TRY wraps returns a status.

Nobody compiles the examples, and a parameter that is added later is forgotten there.
"""
import re

import _tree as tree

NAME = r"\b((?:slci?|test)_\w+)\("
# A call that leaves some of its arguments out says so.
SHORTENED = re.compile(r"\.\.\.|…")
HEADERS = tree.files(".h", ".cuh") + ["sluice.h"]


def closing(text, begin):
    """Where the parenthesis ends whose inside begins there; -1: nowhere."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return -1


def arguments(text):
    """The parts between the commas that are in no inner bracket."""
    parts = [""]
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [] if [part.strip() for part in parts] in ([""], ["void"]) else parts


def declarations(path):
    """(name, its return type, its parameters) of the functions and macros of a header."""
    code = tree.code_only(tree.read(path)).replace("\\\n", "  ")
    for name, parameters in re.findall(r"#[ \t]*define[ \t]+(\w+)\(([^)\n]*)\)", code):
        yield name, "", arguments(parameters)
    code = re.sub(r"^[ \t]*#[^\n]*", "", code, flags=re.MULTILINE)
    for match in re.finditer(NAME, code):
        before = re.split(r"[;{}]", code[:match.start()])[-1]
        end = closing(code, match.end())
        # A call inside of an inline function has no type before it.
        if end >= 0 and re.search(r"\w[\s*]*$", before) and "return" not in before.split():
            yield match.group(1), before, arguments(code[match.end():end])


def first_comment(path):
    """Its text in one line, without what stands behind // in it."""
    match = re.match(r"\s*/\*(.*?)\*/", tree.read(path), re.DOTALL)
    if not match:
        return ""
    lines = [re.sub(r"(^|\s)//.*", "", line) for line in match.group(1).split("\n")]
    return " ".join(re.sub(r"^ \* ?", "", line) for line in lines)


declared = {}
for header in HEADERS:
    for name, kind, parameters in declarations(header):
        declared.setdefault(name, (kind, parameters))

complaints = []
n_calls = 0
for header in HEADERS:
    comment = first_comment(header)
    for match in re.finditer(NAME, comment):
        name = match.group(1)
        end = closing(comment, match.end())
        given = comment[match.end():end]
        if end < 0 or SHORTENED.search(given):
            continue
        n_calls += 1
        if name not in declared:
            complaints.append(f"{header}: its example calls {name}, which no header declares")
            continue
        kind, parameters = declared[name]
        n_given = len(arguments(given))
        is_open = any(SHORTENED.search(parameter) for parameter in parameters)
        least = len(parameters) - (1 if is_open else 0)
        if n_given < least or (n_given > least and not is_open):
            complaints.append(f"{header}: its example calls {name} with {n_given} arguments, "
                              f"it has {least}{' or more' if is_open else ''}")
        tried = re.search(r"SLC_TRY(?:_GOTO)?\((?:\w+,\s*)?$", comment[:match.start()])
        if tried and kind and "slc_status" not in kind.split():
            complaints.append(f"{header}: its example tries {name}, which returns no status")

tree.verdict(complaints, f"{n_calls} calls in the examples of {len(HEADERS)} headers")
