#!/usr/bin/env python3
"""clang-format-14 leaves every C++ file as it is. Says so and passes where the program is absent.

usage: check_format.py [ROOT] [STAMPS]   STAMPS: file that remembers what was already found good
"""
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys

import source_tree


def bad_files(tool, root, paths):
    """Those of paths that the tool would change."""
    bad = []
    for path in paths:
        done = subprocess.run([tool, "--dry-run", "-Werror", path], cwd=root, capture_output=True,
                              check=False)
        if done.returncode != 0:
            bad.append(path)
    return bad


def main():
    root = source_tree.root_argument()
    tool = shutil.which("clang-format-14")
    if tool is None:
        print("format: clang-format-14 is not installed, nothing checked")
        return 0
    stamps = sys.argv[2] if len(sys.argv) > 2 else ""
    style = source_tree.read(root, ".clang-format") if os.path.exists(
        os.path.join(root, ".clang-format")) else ""
    files = source_tree.cpp_files(root)
    keys = {p: hashlib.sha1((style + "\0" + p.rsplit(".", 1)[-1] + source_tree.read(root, p)).encode())
               .hexdigest() for p in files}
    good = source_tree.load_stamps(stamps)
    todo = [p for p in files if keys[p] not in good]
    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        bad = sorted(sum(pool.map(lambda part: bad_files(tool, root, part),
                                  [todo[i::workers] for i in range(workers)]), []))
    source_tree.save_stamps(stamps, [keys[p] for p in files if p not in bad])
    return source_tree.report("format", [f"{p}:1: run clang-format-14 -i {p}" for p in bad], len(files))


if __name__ == "__main__":
    sys.exit(main())
