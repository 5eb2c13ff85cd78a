#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
uncovered.py SOURCES LINES

Names the lines that no test has run, from gcovr's LINES, with the reasons that
stand in the file "reasons" beside this.  Its form, a reason for some lines each:

    lib/base/text.h: REASON
        abort();

the lines as they are in that file, or "*" for any.  Fails where a line has no
reason.
"""

import json
import pathlib
import sys


def read_reasons(path):
    """{file: [(line, reason)]}"""
    reasons, where = {}, None
    for text in path.read_text().splitlines():
        if not text.strip() or text.startswith("#"):
            continue
        if not text[0].isspace():
            file, _, reason = text.partition(": ")
            where = reasons.setdefault(file, [])
        else:
            where.append((text.strip(), reason))
    return reasons


def uncovered(sources, lines):
    for file in json.loads(lines.read_text())["files"]:
        text = (sources / file["file"]).read_text().splitlines()
        for line in file["lines"]:
            if line["count"] == 0 and not line.get("gcovr/noncode"):
                number = line["line_number"]
                yield file["file"], number, text[number - 1].strip()


def main():
    sources, lines = (pathlib.Path(a) for a in sys.argv[1:3])
    reasons = read_reasons(pathlib.Path(__file__).with_name("reasons"))
    unknown = 0
    for file, number, text in uncovered(sources, lines):
        for line, reason in reasons.get(file, []):
            if line in ("*", text):
                break
        else:
            reason = "NO TEST RUNS IT, AND NO REASON IS GIVEN"
            unknown += 1
        print("%s:%d: %s\n    %s" % (file, number, text, reason))
    sys.exit(unknown != 0)


main()
