#!/usr/bin/env python3
"""Every header has #pragma once and compiles alone.

A header that is the first include of some source is proven by the ordinary build; only the others
are compiled here, through ccache where there is one.

usage: check_headers.py [ROOT] [COMPILER] [STAMPS]
STAMPS: file (.json) that remembers headers found good, by their content and that of what they include
"""
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import source_tree

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def first_include(text):
    match = INCLUDE.search(text)
    return match.group(1) if match else ""


def own_header(source):
    """foo.cc and foo_test.cc start with foo.h where that exists."""
    for end in ("_test.cc", "_bench.cc", ".cc"):
        if source.endswith(end):
            return source[:-len(end)] + ".h"
    return ""


def compile_alone(root, compiler, header, folder):
    """Compiler output, "" where the header is good."""
    out = os.path.join(folder, header.replace("/", "_") + ".o")
    command = [compiler, "-std=c++20", "-O0", "-w", "-D_TURN_OFF_PLATFORM_STRING", "-I", ".", "-x", "c++",
               "-c", header, "-o", out]
    if shutil.which("ccache"):
        command.insert(0, "ccache")
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.decode(errors="replace").strip()


def content_key(header, texts, salt):
    """Hash of a header and of everything of ours that it includes."""
    seen, todo = set(), [header]
    while todo:
        path = todo.pop()
        if path in texts and path not in seen:
            seen.add(path)
            todo += INCLUDE.findall(texts[path])
    together = "\0".join(p + "\0" + texts[p] for p in sorted(seen))
    return hashlib.sha1((salt + header + "\0" + together).encode()).hexdigest()


def main():
    root = source_tree.root_argument()
    compiler = sys.argv[2] if len(sys.argv) > 2 else "g++"
    files = source_tree.cpp_files(root)
    headers = [p for p in files if p.endswith(".h")]
    known = set(headers)
    findings, proven = [], set()
    for path in files:
        text = source_tree.read(root, path)
        if path.endswith(".h"):
            if not re.search(r"^#pragma once$", text, re.M):
                findings.append(f"{path}:1: no #pragma once")
            continue
        first = first_include(text)
        own = own_header(path)
        if not path.endswith(("_test.cc", "_bench.cc")) and own in known and first != own:
            findings.append(f"{path}:1: the first include is {own}")
        if first in known:
            proven.add(first)
    stamps = sys.argv[3] if len(sys.argv) > 3 else ""
    good = source_tree.load_stamps(stamps)
    texts = {h: source_tree.read(root, h) for h in headers}
    keys = {h: content_key(h, texts, compiler) for h in headers if h not in proven}
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            rest = [h for h in keys if keys[h] not in good]
            for header, out in zip(rest, pool.map(lambda h: compile_alone(root, compiler, h, folder), rest)):
                if out:
                    findings.append(f"{header}:1: does not compile alone\n{out}")
                    del keys[header]
    source_tree.save_stamps(stamps, keys.values())
    return source_tree.report("headers", findings, len(headers))


if __name__ == "__main__":
    sys.exit(main())
