#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that texts for users use the words of Kubernetes.

usage: words.py GPUGATE GPUGATED
       words.py --text FILE...

Looks for the expressions of words.txt in the READMEs, in the texts of the
chart, in what both programs print about themselves, and in comments and
strings of the product's C (messages of rules among them). The first part of
the list is also looked for in all code and its tests. With --text, only these
files are read. Each line of the list holds an example that its expression, and
no other line's, must find, so that no line is dead. To see the check fail:
    echo at the door >/tmp/door && tests/meta/words.py --text /tmp/door
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIST = pathlib.Path(__file__).with_suffix(".txt")
TRACKED = ["README.md", "*/README.md", ".github/*.md",
           "deploy/chart/*values.yaml", "deploy/chart/*NOTES.txt"]
# Files in which the first part of the list applies. Their underscores count as
# blanks, because a name consists of words.
CODE = ["*.c", "*.h", "*.sh", "*.bash", "*.bats", "*.py", "*.go", "*.mk",
        "Makefile", "tests/bypass/*.yaml", "tests/bypass/*.tsv"]
CODE_END = "# The words above"
# Comments and strings are read in the C files of these folders. Parts of a
# string, and lines of a comment, are one text: the characters that join them
# become blanks.
PRODUCT = re.compile(r"(?:certs|include|lint|rules|webhook)/.*\.[ch]$")
C_TEXT = re.compile(
    r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', re.S)
C_JOINT = re.compile(r'"(?=\s*")|(?<=\s)"|(?<=\n)\s*\*')
# A blank of an expression matches a line end, also one inside of a comment.
BLANK = r"\s+(?:#\s+)?"


def read_list():
    """Return one expression for all words, one for the words that count in
    code, and the words to use instead, by their groups."""
    parts, words, examples = [], [], []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if line.startswith(CODE_END):
            code = re.compile("|".join(parts), re.IGNORECASE)
        if line.startswith("#"):
            continue
        part, instead, example = line.split("\t")
        parts.append("(" + part.replace(" ", BLANK) + ")")
        words.append(instead)
        examples.append((number, example))
    expression = re.compile("|".join(parts), re.IGNORECASE)
    for index, (number, example) in enumerate(examples, 1):
        found = [hit.lastindex for hit in expression.finditer(example)]
        if found != [index]:
            sys.exit(f"{LIST}:{number}: does not find its example")
    return expression, code, words


def output(program, *args):
    """Run a program in an empty folder. Return (its command line, its output
    and the files that it writes)."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, *args], cwd=folder, check=True,
                              capture_output=True, text=True)
        files = [p.read_text() for p in pathlib.Path(folder).iterdir()]
    name = " ".join([os.path.basename(program), *args])
    return name, "".join([done.stdout, done.stderr, *files])


def commands(usage, line):
    found = re.findall(line, usage, re.MULTILINE)
    if not found:
        sys.exit("words.py: the help names no commands")
    return found


def printed(gpugate, gpugated):
    usage = output(gpugate, "help")
    yield usage
    for command in commands(usage[1], r"^  ([a-z-]+)  "):
        yield output(gpugate, "help", command)
    for args in (["manpage", "1"], ["manpage", "5"], ["rules"], ["init"]):
        yield output(gpugate, *args)
    for rule in output(gpugate, "rules")[1].splitlines():
        name, text = output(gpugate, "explain", rule.split()[0])
        yield name, text.split("\nFlagged:\n")[0]
    usage = output(gpugated, "help")
    yield usage
    for command in commands(usage[1], r"^ +gpugated ([a-z]+)"):
        yield output(gpugated, "help", command)


def tracked(patterns):
    files = subprocess.run(["git", "ls-files", "--", *patterns], check=True,
                           capture_output=True, text=True).stdout
    return [(name, pathlib.Path(name).read_text(errors="replace"))
            for name in files.splitlines()]


def code():
    return [(name, text.replace("_", " ")) for name, text in tracked(CODE)
            if name not in ("tests/meta/words.py", "tests/meta/prose.py")]


def c_texts():
    """Yield the comments and strings of the product's C."""
    for name, text in tracked(["*.c", "*.h"]):
        if not PRODUCT.match(name):
            continue
        kept, end = [], 0
        for part in C_TEXT.finditer(text):
            kept += ["\n" * text.count("\n", end, part.start()), " ",
                     C_JOINT.sub("", part[0])]
            end = part.end()
        yield name, "".join(kept)


def hits(expression, words, texts):
    """Return a list of (file, line, word, words to use instead)."""
    return [(name, text.count("\n", 0, hit.start()) + 1,
             " ".join(hit[0].split()), words[hit.lastindex - 1])
            for name, text in texts for hit in expression.finditer(text)]


def main():
    expression, in_code, words = read_list()
    if sys.argv[1] == "--text":
        texts = [(name, pathlib.Path(name).read_text(errors="replace"))
                 for name in sys.argv[2:]]
        found = hits(expression, words, texts)
    else:
        texts = [*tracked(TRACKED), *c_texts(),
                 *printed(*map(os.path.abspath, sys.argv[1:3]))]
        found = hits(expression, words, texts)
        found += hits(in_code, words, code())
    for name, line, word, instead in found:
        print(f"{name}:{line}: {word} -> {instead}", file=sys.stderr)
    if found:
        sys.exit(f"words: {len(found)} to replace, see {LIST.name}")
    print(f"words: ok, {len(texts)} texts")


if __name__ == "__main__":
    main()
