"""The manual says what the program does: every option of every job is in the man page, in the shell
completion, and nowhere else; README's C program is examples/01_image/image.c; links lead somewhere.
"""
import os
import re

import _tree as tree

JOBS = ("image", "info", "simulate")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
complaints = []


def option_set(text):
    return set(OPTION.findall(text.replace("\\-", "-")))


# ---- options: program, man page, completion --------------------------------------------------
manual_text = tree.read("docs/man/sluice.1").replace("\\-", "-")
completion_text = tree.read("completion/sluice.bash")
readme = tree.read("README.md")


def section(name):
    """The man page's part that begins with .SS name (or .SH NAME), up to the next heading."""
    found = re.search(rf"^\.S[SH] \"?{name}\"?$(.*?)(?=^\.S[SH] |\Z)", manual_text,
                      re.M | re.S | re.I)
    return found.group(1) if found else ""


def completion_of(job):
    found = re.search(rf"^\s*local {job}_options=\"(.*?)\"", completion_text, re.M | re.S)
    return option_set(found.group(1)) if found else set()


if tree.PROGRAM and os.path.exists(tree.PROGRAM):
    everything = set()
    for job in JOBS:
        answer = tree.run([tree.PROGRAM, job, "--help"])
        if answer.returncode != 0:
            complaints.append(f"sluice {job} --help leaves with {answer.returncode}")
            continue
        offered = option_set(answer.stdout)
        everything |= offered
        in_manual = option_set(section(f"sluice {job}"))
        for option in sorted(offered - in_manual):
            complaints.append(f"sluice {job} {option}: not in the man page")
        for option in sorted(option_set(section(f"sluice {job}")) - offered):
            complaints.append(f"man page, sluice {job}: {option} is not an option of the program")
        for option in sorted(offered - completion_of(job)):
            complaints.append(f"sluice {job} {option}: not in completion/sluice.bash")
        for option in sorted(completion_of(job) - offered):
            complaints.append(f"completion of sluice {job}: {option} is not an option")
    for number, line in enumerate(readme.splitlines(), 1):
        match = re.match(r"\s*(?:\$ )?sluice (\w+) ", line)
        if match and match.group(1) in JOBS:
            for option in sorted(option_set(line) - everything):
                complaints.append(f"README.md:{number}: {option} is not an option")
else:
    print("the program is not built: its options are not compared")

# ---- README's program is the first example ----------------------------------------------------
example = "examples/01_image/image.c"
if os.path.exists(os.path.join(tree.ROOT, example)):
    blocks = re.findall(r"```c\n(.*?)```", readme, re.S)
    if tree.read(example) not in blocks:
        complaints.append(f"README.md: no block of C is {example}, letter for letter")
else:
    complaints.append(f"{example}: missing")

# ---- links and commands -----------------------------------------------------------------------
documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
for document in documents + tree.files(".md", folders=("docs",)):
    folder = os.path.dirname(os.path.join(tree.ROOT, document))
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", tree.read(document)):
        if not re.match(r"[a-z]+:", target) and not os.path.exists(os.path.join(folder, target)):
            complaints.append(f"{document}: the link to {target} leads nowhere")
quickstart = tree.read("quickstart")
for command in re.findall(r"\./quickstart (\w+)", readme):
    if not re.search(rf"^\s*{command}\)", quickstart, re.M):
        complaints.append(f"README.md: ./quickstart {command} is not a command of quickstart")
version = re.search(r'SLC_VERSION "([^"]+)"', tree.read("core/version.h")).group(1)
if f"## {version}" not in tree.read("CHANGELOG.md"):
    complaints.append(f"CHANGELOG.md: says nothing of version {version}")

tree.verdict(complaints, "program, man page, completion and documents")
