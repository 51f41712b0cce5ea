"""Words that do not belong: the library does not print, exit or abort; nobody leaves notes to self.

Also: file names are unique in the tree, so that a name is an address; shell scripts parse; numbers
are parsed independently of the locale; nothing asks the environment.
"""
import collections
import os
import re

import _tree as tree

# In library files: pattern, and what to do instead.
LIBRARY = [
    (r"\b(abort|exit|_exit|_Exit|quick_exit)\s*\(", "return a slc_status"),
    (r"(?<![\w])(printf|puts|putchar|perror|vprintf)\s*\(", "write to the slc_log"),
    (r"\b(stdout|stderr)\b", "write to the slc_log"),
    (r"\bgetenv\s*\(|\bsetenv\s*\(", "take an option; there is no interface by environment"),
    (r"\bsetlocale\s*\(", "the locale is the caller's"),
    (r"#\s*pragma\s+omp", "use the slc_pool"),
]
# Everywhere in C.
ANYWHERE = [
    (r"\b(atoi|atol|atoll|atof)\s*\(", "parse strictly"),
    (r"\b(strcpy|strcat|sprintf|vsprintf|gets)\s*\(", "use the bounded form"),
    (r"\b(strtod|strtof)\s*\(", "it reads a comma as the locale says"),
]
# What is allowed all the same, and why.
ALLOWED = {
    ("io/h5_storage.c", "getenv("): "quotes HDF5's own HDF5_PLUGIN_PATH where a filter is missing",
    ("io/h5_beside.c", "getenv("): "looks where HDF5's own HDF5_EXT_PREFIX and HDF5_VDS_PREFIX say",
}
NOTES = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")

complaints = []
looked_at = tree.files(".c", ".h", ".cu", ".cuh", ".py", ".sh")
for path in looked_at:
    text = tree.read(path)
    for number, line in enumerate(text.splitlines(), 1):
        if NOTES.search(line):
            complaints.append(f"{path}:{number}: a note to self: {line.strip()}")
    if path.endswith((".py", ".sh")):
        continue
    in_library = path.split("/")[0] in tree.LIBRARY_FOLDERS and not tree.is_program_only(path)
    rules = ANYWHERE + (LIBRARY if in_library else [])
    for number, line in enumerate(tree.code_only(text).splitlines(), 1):
        for pattern, instead in rules:
            found = re.search(pattern, line)
            word = found.group(0).replace(" ", "") if found else ""
            if found and (path, word) not in ALLOWED:
                complaints.append(f"{path}:{number}: {found.group(0).strip()}: {instead}")

names = collections.defaultdict(list)
for path in tree.files(".c", ".h", ".cu", folders=tree.LIBRARY_FOLDERS + ("tests",)):
    names[os.path.basename(path)].append(path)
for name, paths in sorted(names.items()):
    if len(paths) > 1:
        complaints.append(f"{name}: the name of {' and '.join(paths)}")

scripts = ["quickstart", ".ci/run", "completion/sluice.bash", "tests/support/run_cmocka"]
scripts += tree.files(".sh") + [p for p in tree.files("/run", "run") if p.endswith("/run")]
for script in sorted(set(scripts)):
    if not os.path.exists(os.path.join(tree.ROOT, script)):
        complaints.append(f"{script}: missing")
        continue
    answer = tree.run(["bash", "-n", script])
    if answer.returncode != 0:
        complaints.append(f"{script}: bash -n says\n{answer.stdout}")

tree.verdict(complaints, f"{len(looked_at)} files, {len(scripts)} scripts")
