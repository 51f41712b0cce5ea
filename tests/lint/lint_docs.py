"""The manual says what the program does: every option of every job is in the man page and in the
shell completion, and those name no other; README's C program is examples/01_image/image.c; links
lead somewhere; the commands of README are there.
"""
import os
import re

import _tree as tree

JOBS = ("bench", "gather", "image", "info", "predict", "repack", "simulate", "stats", "transpose")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
complaints = []


def options_of(text):
    return set(OPTION.findall(text.replace("\\-", "-")))


def file_exists(path):
    return os.path.exists(os.path.join(tree.ROOT, path))


def compare_options(readme):
    """The program's own help against man page, completion and README."""
    if not tree.PROGRAM or not os.path.exists(tree.PROGRAM):
        print("the program is not built: its options are not compared")
        return
    offered = {}
    for job in JOBS + ("",):
        answer = tree.run([tree.PROGRAM, *([job] if job else []), "--help"])
        if answer.returncode != 0:
            complaints.append(f"sluice {job} --help leaves with {answer.returncode}")
        offered[job] = options_of(answer.stdout)
    everything = set().union(*offered.values())
    for path in ("docs/man/sluice.1", "completion/sluice.bash"):
        named = options_of(tree.read(path))
        for option in sorted(everything - named):
            jobs = [f"sluice {job}".strip() for job in offered if option in offered[job]]
            complaints.append(f"{path}: nothing about {option} of {', '.join(jobs)}")
        for option in sorted(named - everything):
            complaints.append(f"{path}: {option} is in no --help")
    for number, line in enumerate(readme.splitlines(), 1):
        match = re.match(r"\s*(?:\$ )?sluice (\w+) ", line)
        if match and match.group(1) in JOBS:
            for option in sorted(options_of(line) - offered[match.group(1)]):
                complaints.append(f"README.md:{number}: sluice {match.group(1)} has no {option}")


def compare_example(readme):
    example = "examples/01_image/image.c"
    blocks = re.findall(r"```c\n(.*?)```", readme, re.S)
    if not file_exists(example):
        complaints.append(f"{example}: missing")
    elif tree.read(example) not in blocks:
        complaints.append(f"README.md: no block of C is {example}, letter for letter")


def follow_links():
    documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    for document in documents + tree.files(".md", folders=("docs",)):
        folder = os.path.dirname(os.path.join(tree.ROOT, document))
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", tree.read(document)):
            is_here = os.path.exists(os.path.join(folder, target))
            if not re.match(r"[a-z]+:", target) and not is_here:
                complaints.append(f"{document}: the link to {target} leads nowhere")


def look_for_commands(readme):
    quickstart = tree.read("quickstart")
    for command in sorted(set(re.findall(r"\./quickstart (\w+)", readme))):
        if not re.search(rf"^\s*{command}\)", quickstart, re.M):
            complaints.append(f"README.md: ./quickstart {command} is not a command of quickstart")
    presets = tree.read("CMakePresets.json")
    for preset in sorted(set(re.findall(r"--preset (\w+)", readme))):
        if f'"name": "{preset}"' not in presets:
            complaints.append(f"README.md: there is no preset {preset}")
    version = re.search(r'SLC_VERSION "([^"]+)"', tree.read("core/version.h")).group(1)
    if f"## {version}" not in tree.read("CHANGELOG.md"):
        complaints.append(f"CHANGELOG.md: says nothing of version {version}")


text = tree.read("README.md")
compare_options(text)
compare_example(text)
follow_links()
look_for_commands(text)
tree.verdict(complaints, "program, man page, completion and documents")
