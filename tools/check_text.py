#!/usr/bin/env python3
"""TODO form, machine paths and white space in every text file of the tree.

usage: check_text.py [ROOT]
"""
import re
import sys

import source_tree

TEXT = (".h", ".cc", ".inc", ".py", ".sh", ".cmake", ".txt", ".yaml", ".yml", ".json", ".md", ".in")
OPEN_TASK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
GOOD_TASK = re.compile(r"\bTODO\(#\d+\): \S")
# Homes of people and machines. /home/ray is the home folder inside Ray's images.
MACHINE_PATH = re.compile(r"(?<![\w.\-/}*])/(?:root|work|Users|mnt|home(?!/ray\b))/[\w.]")
LONG = 100


def is_text(path):
    name = path.rsplit("/", 1)[-1]
    return path.endswith(TEXT) or "." not in name


def check_file(path, text):
    """Lines with string literals may be longer: clang-format does not break literals."""
    findings = []
    if "\0" in text:
        return findings
    lines = text.split("\n")
    code = path.endswith((".h", ".cc", ".py", ".sh", ".cmake", ".txt")) or "." not in path
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}:"
        if code and OPEN_TASK.search(line) and not GOOD_TASK.search(line):
            findings.append(f"{where} an open task is written as a TODO with its issue: (#12): text")
        if MACHINE_PATH.search(line):
            findings.append(f"{where} path of one machine")
        if line.endswith((" ", "\t", "\r")) and not path.endswith((".md", ".json")):
            findings.append(f"{where} white space at the end of the line")
        if path.endswith((".h", ".cc")) and len(line) > LONG and not re.search(r'https?://|["]', line):
            findings.append(f"{where} {len(line)} columns, {LONG} allowed")
    if text and not text.endswith("\n"):
        findings.append(f"{path}:{len(lines)}: no newline at the end of the file")
    return findings


def main():
    root = source_tree.root_argument()
    files = [p for p in source_tree.tree_files(root) if is_text(p) and not p.endswith("check_text.py")]
    findings = []
    for path in files:
        findings += check_file(path, source_tree.read(root, path))
    return source_tree.report("text", findings, len(files))


if __name__ == "__main__":
    sys.exit(main())
