#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the links of Markdown files.

A relative link must lead to a file of the tree and, if it names a heading, to a
heading of this file. A URL must be complete and written as a link, for example
`<URL>`.

usage: links.py FILE.md...
"""
import functools
import pathlib
import re
import sys

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]*)\)")
AUTO = re.compile(r"<(https?:[^>]*)>")
URL = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w./~%@+-]*)?"
                 r"(\?[\w=&%-]+)?(#[\w.:-]+)?")


def prose(text):
    return CODE.sub("``", FENCE.sub("", text))


@functools.lru_cache(None)
def anchors(path):
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text()), re.M)
    return {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-")
            for h in heads}


def wrong_url(url):
    return not URL.fullmatch(url) or url[-1] in ".,:"


def problem(file, target):
    if target.startswith(("https:", "http:")):
        return wrong_url(target) and "is no URL"
    path, _, anchor = target.partition("#")
    path = file.parent / path if path else file
    if not path.exists():
        return "leads nowhere"
    if anchor and anchor not in anchors(path):
        return f"names no heading of {path}"
    return None


def main():
    bad = 0
    for name in sys.argv[1:]:
        file = pathlib.Path(name)
        text = prose(file.read_text())
        for target in LINK.findall(text) + AUTO.findall(text):
            why = problem(file, target)
            if why:
                bad = 1
                print(f"{name}: {target} {why}", file=sys.stderr)
        for url in re.findall(r"\S*https?://\S*",
                              AUTO.sub("", LINK.sub("", text))):
            bad = 1
            print(f"{name}: {url} is no link", file=sys.stderr)
    return bad


sys.exit(main())
