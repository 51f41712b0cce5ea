"""Sums up what ctest ran: summary.py NAME=RESULTS.xml ...

Prints each failed and each skipped test, the latter with its reason, and as the last line
"N passed, N failed, N skipped". A cmocka program counts as its cases, a script as one test. Leaves
with 1 if anything failed.
"""
import re
import sys
import xml.etree.ElementTree as xml

CASE = re.compile(r"^\[\s*(OK|FAILED|SKIPPED|ERROR)\s*\] (.+)$")
BEGIN = re.compile(r"^\[ RUN      \] (.+)$")
REASON = re.compile(r"^(?:SKIP: |(?=not on ))(.+)$")


def cases_of(output):
    """[(case, verdict, reason)] of a cmocka program's output; empty if it is none.

    cmocka prints the verdict of a case after what the case itself printed, and lists those that
    failed or were skipped once more at the end, which is passed over. A reason given outside of any
    case holds for the cases that give none.
    """
    found = []
    case = None
    said = []
    outside = [match.group(1) for match in map(REASON.match, output.splitlines()) if match]
    common = outside[0] if outside else "no reason given"
    for line in output.splitlines():
        begins = BEGIN.match(line)
        ends = CASE.match(line)
        if begins:
            if case:
                found.append((case, "failed", "it did not come back"))
            case, said = begins.group(1), []
        elif ends and case and ends.group(2) == case:
            verdict = {"OK": "passed", "SKIPPED": "skipped"}.get(ends.group(1), "failed")
            reasons = [match.group(1) for match in map(REASON.match, said) if match]
            if verdict == "failed":
                reasons = [text for text in said if text]
            found.append((case, verdict, reasons[-1] if reasons else common))
            case = None
        elif case:
            said.append(line.strip())
    if case:
        found.append((case, "failed", "the program ended in it"))
    return found


def reason_of(output):
    """Why a script was skipped: the last line that says so, or the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in reversed(lines):
        said = re.match(r"(?:skip(?:ped)?):?\s+(.*)", line, re.I)
        if said:
            return said.group(1)
    return lines[-1] if lines else "no reason given"


def failure_of(test, output):
    """What a failed test said last; without a word, what ctest says (a time-out, a signal)."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    failure = test.find("failure")
    message = failure.get("message") if failure is not None else ""
    return ", ".join(filter(None, [message, lines[-1] if lines else ""])) or "failed"


def results_of(path):
    """[(test, verdict, reason)] of one file of results."""
    for test in xml.parse(path).getroot().iter("testcase"):
        name = test.get("name")
        output = test.findtext("system-out") or ""
        status = test.get("status")
        cases = cases_of(output)
        if cases:
            for case, verdict, reason in cases:
                yield f"{name}: {case}", verdict, reason
            if status == "fail" and not any(verdict == "failed" for _, verdict, _ in cases):
                yield name, "failed", failure_of(test, output)
        elif status == "run":
            yield name, "passed", ""
        elif status == "fail":
            yield name, "failed", failure_of(test, output)
        elif test.find("skipped") is not None and "SKIP" in test.find("skipped").get("message", ""):
            yield name, "skipped", reason_of(output)
        elif status == "disabled":
            yield name, "skipped", "switched off"
        else:
            skipped = test.find("skipped")
            why = skipped.get("message") if skipped is not None else ""
            yield name, "failed", why or "could not be started"


def main(arguments):
    count = {"passed": 0, "failed": 0, "skipped": 0}
    listed = {"failed": [], "skipped": []}
    for argument in arguments:
        name, _, path = argument.partition("=")
        for test, verdict, reason in results_of(path):
            count[verdict] += 1
            if verdict in listed:
                listed[verdict].append(f"  {test} [{name}]: {reason}")
    for verdict in ("skipped", "failed"):
        if listed[verdict]:
            print(verdict.capitalize() + ":")
            print("\n".join(listed[verdict]))
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
