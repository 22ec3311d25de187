#!/usr/bin/env python3
"""Size limits of files, functions, parameter lists and classes.

usage: check_sizes.py [ROOT]
A file of generated code or of data is exempt when one of its first ten lines says so and why:
`// Generated: by ...` or `// Data: ...`.
"""
import sys

import cpp_scan
import source_tree

HEADER_LINES = 300
SOURCE_LINES = 600
TEST_LINES = 1000
FUNCTION_LINES = 80
PARAMETERS = 6
PUBLIC_METHODS = 20
HIDDEN = ("Impl", "Core")  # behind a pointer: nobody's interface


def line_limit(path):
    if source_tree.is_test(path):
        return TEST_LINES
    return HEADER_LINES if path.endswith(".h") else SOURCE_LINES


def check_file(path, text):
    if source_tree.exempt_from_sizes(text):
        return []
    findings = []
    lines = text.count("\n")
    if lines > line_limit(path):
        findings.append(f"{path}:1: {lines} lines, {line_limit(path)} allowed")
    scanner = cpp_scan.Scanner(text).scan()
    for f in scanner.functions:
        if f.lines > FUNCTION_LINES:
            findings.append(f"{path}:{f.line}: {f.name} has {f.lines} lines, {FUNCTION_LINES} allowed")
        if f.parameters > PARAMETERS and not cpp_scan.TEST_MACRO.match(f.name):
            findings.append(f"{path}:{f.line}: {f.name} has {f.parameters} parameters, {PARAMETERS} allowed")
    for name, line, methods in scanner.classes:
        if name in HIDDEN or source_tree.is_test(path):
            continue
        if methods > PUBLIC_METHODS:
            findings.append(f"{path}:{line}: {name} has {methods} public methods, {PUBLIC_METHODS} allowed")
    return findings


def main():
    root = source_tree.root_argument()
    files = source_tree.cpp_files(root)
    findings = []
    for path in files:
        findings += check_file(path, source_tree.read(root, path))
    return source_tree.report("sizes", findings, len(files))


if __name__ == "__main__":
    sys.exit(main())
