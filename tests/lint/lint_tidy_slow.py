"""clang-tidy 14 finds nothing, with the checks of .clang-tidy. Slow; skipped where not installed.

Each version of clang-tidy brings checks of its own, so others are not asked.
"""
import concurrent.futures
import os
import re
import shutil

import _tree as tree

VERSION = "14"

program = shutil.which(f"clang-tidy-{VERSION}") or shutil.which("clang-tidy")
if not program:
    tree.skip(f"no clang-tidy {VERSION} (apt install clang-tidy-{VERSION})")
says = tree.run([program, "--version"]).stdout
if not re.search(rf"version {VERSION}\.", says):
    tree.skip(f"clang-tidy {VERSION} is needed, this is {says.strip().splitlines()[-1].strip()}")
if not os.path.exists(os.path.join(tree.BUILD, "compile_commands.json")):
    tree.skip("no compile_commands.json (set SLUICE_BUILD_DIR)")

database = tree.read(os.path.join(tree.BUILD, "compile_commands.json"))
looked_at = [path for path in tree.files(".c", folders=tree.LIBRARY_FOLDERS)
             if os.path.join(tree.ROOT, path) in database]


def examine(path):
    answer = tree.run([program, "--quiet", "-p", tree.BUILD, path])
    return [line.replace(tree.ROOT + "/", "") for line in answer.stdout.splitlines()
            if ": error:" in line or ": warning:" in line]


with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
    complaints = sorted({line for lines in pool.map(examine, looked_at) for line in lines})
tree.verdict(complaints, f"{len(looked_at)} files")
