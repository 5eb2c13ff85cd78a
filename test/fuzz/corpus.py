#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Between a fuzzer's directory of inputs and a file with a line for each.

corpus.py unpack FILE DIRECTORY
corpus.py pack DIRECTORY FILE
"""
import hashlib
import pathlib
import sys


def unpack(file, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for line in file.read_text().split():
        data = bytes.fromhex(line)
        name = hashlib.sha1(data).hexdigest()
        (directory / name).write_bytes(data)


def pack(directory, file):
    """The shortest first, so that the first to fail is a short one."""
    inputs = {path.read_bytes() for path in directory.iterdir()}
    lines = [data.hex() for data in sorted(inputs, key=lambda d: (len(d), d))]
    file.write_text("".join(line + "\n" for line in lines if line))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    command = pack if sys.argv[1] == "pack" else unpack
    command(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))


main()
