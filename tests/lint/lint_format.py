"""clang-format 14 would change nothing. Other versions format differently and are not asked."""
import os
import re
import shutil

import _tree as tree

VERSION = "14"

program = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
if not program:
    tree.skip(f"no clang-format {VERSION} (apt install clang-format-{VERSION})")
says = tree.run([program, "--version"]).stdout
found = re.search(r"version (\d+)", says)
if not found or found.group(1) != VERSION:
    tree.skip(f"clang-format {VERSION} is needed, this is {says.strip()}")

complaints = []
looked_at = tree.files(".c", ".h", ".cu") + ["sluice.h"]
for path in looked_at:
    answer = tree.run([program, "--dry-run", "-Werror", path])
    if answer.returncode != 0:
        first = answer.stdout.splitlines()[0] if answer.stdout else ""
        complaints.append(f"{os.path.relpath(path)}: clang-format -i would change it ({first})")
tree.verdict(complaints, f"{len(looked_at)} files")
