"""clang-format 14 would change nothing. Other versions format differently and are not asked."""
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

looked_at = tree.files(".c", ".h", ".cu") + ["sluice.h"]
# One process for all files: starting it takes longer than looking at one.
answer = tree.run([program, "--dry-run", "-Werror", *looked_at])
first = {}
for line in answer.stdout.splitlines():
    match = re.match(r"(.*?):\d+:\d+: error: ", line)
    if match:
        first.setdefault(match.group(1), line)
complaints = [f"{path}: clang-format -i would change it ({line})" for path, line in first.items()]
if answer.returncode != 0 and not complaints:
    complaints = answer.stdout.splitlines()[:1]
tree.verdict(complaints, f"{len(looked_at)} files")
