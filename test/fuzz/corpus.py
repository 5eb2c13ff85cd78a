#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Between a fuzzer's directories of inputs and a file with a line for each.

corpus.py unpack FILE DIRECTORY
corpus.py pack FILE DIRECTORY OTHER

pack: all of DIRECTORY, and the shortest of OTHER as long as the file is small.
"""
import hashlib
import pathlib
import sys

SMALL = 250_000  # bytes


def unpack(file, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for line in file.read_text().split():
        data = bytes.fromhex(line)
        name = hashlib.sha1(data).hexdigest()
        (directory / name).write_bytes(data)


def lines_of(directory):
    inputs = {path.read_bytes() for path in directory.iterdir()}
    return {data.hex() + "\n" for data in inputs if data}


def pack(file, directory, other):
    """The shortest first, so that the first to fail is a short one."""
    lines = lines_of(directory)
    size = sum(map(len, lines))
    for line in sorted(lines_of(other) - lines, key=lambda x: (len(x), x)):
        size += len(line)
        if size > SMALL:
            break
        lines.add(line)
    file.write_text("".join(sorted(lines, key=lambda x: (len(x), x))))


def main():
    commands = {("unpack", 4): unpack, ("pack", 5): pack}
    command = commands.get((sys.argv[1] if sys.argv[1:] else "",
                            len(sys.argv)))
    if not command:
        sys.exit(__doc__)
    command(*map(pathlib.Path, sys.argv[2:]))


main()
