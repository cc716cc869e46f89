#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that comments, documents and rule texts are plain English.

usage: prose.py [--all] [PATH...]

Reads the comments of C, shell, Makefiles and Python, docstrings, the Markdown
(with the pages of rules/docs, which are made from the rule texts), and the
strings of rules/catalog. A pattern finds phrases that are hard to read. The
example next to it must match, so that no pattern is dead. Each line of
prose.txt is a reviewed exception: the file, a tab, words of the text. An
exception that is no longer needed is an error. With --all, exceptions are
listed too. To see the check fail:
    echo '/* What it does. */' >>lint/main.c && tests/meta/prose.py
"""
import pathlib
import re
import subprocess
import sys

EXCEPTIONS = pathlib.Path(__file__).with_suffix(".txt")
FILES = ["*.c", "*.h", "*.sh", "*.bash", "*.bats", "*.py", "*.mk", "*Makefile",
         "*.md", ":!tests/meta/prose.py"]

# Where a pattern applies: to comments, or to any text.
COMMENT, ANY = 1, 2
PATTERNS = [
    (COMMENT, "begins with a pronoun or a relative clause",
     r"^(?:What|Whatever|Those|That of|Of(?! course)|Who|Whose|Which|Such|They"
     r"|Them|Neither|None of|The (?:one|ones|same|other)|Its|It (?:is|has|was)"
     r"|(?:Not|For|To|As|Also|And|With|Where)? ?what)\b",
     "What the parts share."),
    (COMMENT, "begins with How or Whether", r"^(?:How|Whether)\b",
     "How many there are."),
    (COMMENT, "has a sentence that begins with a relative clause",
     r"[.] (?:What|Who|Whose|Those|That of|Of(?! course)) [a-z]",
     "Sorts them. What is left is dropped."),
    (COMMENT, "asks a question",
     r"^(?:Is|Are|Has|Have|Does|Do|Did|Can|Could|May|Must|Was|Were|Will|Would)"
     r" [^.?]{3,90}\?",
     "Has it pods of that role?"),
    (ANY, "has a 'what' clause as subject or object",
     r"\b(?:of|with|for|in|at|to|by|from|than|and|is|are|not) what"
     r" (?:is|are|was|has|have|does|do|can|may|must|it|they|the|an?|no|nobody"
     r"|nothing|others?|some)\b",
     "the length of what is left"),
    (ANY, "negates the noun instead of the verb",
     r"(?<!here )\b(?:is|are|was) no (?!longer|more|less|such)[a-z]|\bhas it no\b",
     "a node that is no list"),
    (ANY, "uses an archaic word",
     r"\b(?:for ever|anew|by halves|in vain|nobody|somebody|lest|thereof|hereof"
     r"|(?:the|their) like|(?<!instead )of (?:one's|its|their) own"
     r"|of (?:ours|theirs))\b",
     "a timer of its own"),
    (ANY, "uses a word that means something else",
     r"\b(?:stands? (?:in|at|for|there|elsewhere)|excuse[sd]?|unite[sd]?|sieve"
     r"|twins|crew|deeds?|at the door|promise[sd]?|told|tells|holds? to it)\b",
     "the line tells the name"),
    (COMMENT, "asks a question", r"\?$", "Silence for too long?"),
    (ANY, "leaves out 'per'",
     r"\b(?:[Oo]ne(?! (?:of|with|in|has)\b)(?: [a-z]+)?|[Aa]n? [a-z]+) an?"
     r" (?:second|line|byte|row|page|file|rule|kind|thread|operator|word"
     r"|case|document)\b",
     "a file, with one item a line"),
    (COMMENT, "uses 'so many' without a comparison",
     r"\bso (?:many|much)\b(?! (?:as|more|longer)\b|[^.]{0,80} that\b)",
     "a Pod with so many GPUs"),
    (ANY, "says what one makes of another", r"\bmakes? of (?:it|them)\b",
     "the pods that an operator makes of it"),
    (ANY, "uses 'be there' for 'exist'",
     r"\b(?:is|are|was|were) not there\b(?! already)"
     r"|\bthat (?:is|are|was|were) there\b",
     "a flavor that is not there"),
    (COMMENT, "uses 'asked for' for 'requested'",
     r"\b(?:is|are|was|were|being|not|only) asked for\b(?! (?:the|an?)\b)",
     "Few places are asked for."),
    (ANY, "uses 'but for' for 'except'", r"\bbut for (?!at\b)",
     "the same but for the order"),
]

C_COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
C_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
DOCSTRING = re.compile(r'^[ \t]*"""(.*?)"""', re.S | re.M)
HASH_COMMENT = re.compile(r"(?:^[ \t]*#(?!!).*\n?)+", re.M)
LICENSE = re.compile(r"^SPDX-License-Identifier: \S+ ?")
FENCE = re.compile(r"^```.*?^```", re.S | re.M)


def join(text, leader=""):
    return " ".join(re.sub(r"\n\s*" + leader + " ?", "\n", text).split())


def blank(match):
    return "\n" * match[0].count("\n")


def texts(name, text):
    """Yield (offset, is a comment, text without line breaks)"""
    if name.endswith((".c", ".h")):
        for part in C_COMMENT.finditer(text):
            yield part.start(), True, join(part[1], r"\*").strip("* ")
        if name.startswith("rules/catalog/"):
            for part in C_STRING.finditer(C_COMMENT.sub(blank, text)):
                yield part.start(), False, re.sub(r'"\s*"', "", part[0])[1:-1]
    elif name.endswith(".md"):
        offset = 0
        for line in FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]),
                              text).split("\n\n"):
            yield offset, False, join(line)
            offset += len(line) + 2
    else:
        for part in HASH_COMMENT.finditer(text):
            text_lines = LICENSE.sub("", join("\n" + part[0], "#"))
            yield part.start(), True, text_lines
        if name.endswith(".py"):
            for part in DOCSTRING.finditer(text):
                yield part.start(), True, join(part[1])


def compile_patterns():
    compiled = []
    for where, problem, pattern, example in PATTERNS:
        pattern = re.compile(pattern)
        if not pattern.search(example):
            sys.exit(f"prose.py: {problem!r} does not find its example")
        compiled.append((where, problem, pattern))
    return compiled


def problems(files):
    """Yield (file, line, problem, the words found, the text)"""
    patterns = compile_patterns()
    for name in files:
        source = pathlib.Path(name).read_text(errors="replace")
        for offset, is_comment, text in texts(name, source):
            for where, problem, pattern in patterns:
                if where == COMMENT and not is_comment:
                    continue
                hit = pattern.search(text)
                if hit:
                    line = source.count("\n", 0, offset) + 1
                    yield name, line, problem, hit, text
                    break


def read_exceptions():
    lines = EXCEPTIONS.read_text().splitlines()
    return {tuple(line.split("\t")) for line in lines
            if line and not line.startswith("#")}


def main(args):
    show_all = "--all" in args
    paths = [arg for arg in args if arg != "--all"]
    files = subprocess.run(["git", "ls-files", "--", *(paths or FILES)],
                           check=True, capture_output=True, text=True).stdout
    files = files.splitlines()
    exceptions, used, found = read_exceptions(), set(), 0
    for name, line, problem, hit, text in problems(files):
        matching = {(file, words) for file, words in exceptions
                    if file == name and words in text}
        used |= matching
        if not matching or show_all:
            near = text[max(0, hit.start() - 40):hit.end() + 60]
            print(f"{name}:{line}: {problem}: {near}", file=sys.stderr)
            found += not matching
    unused = set() if paths else exceptions - used
    for name, words in sorted(unused):
        print(f"{EXCEPTIONS}: not needed: {name}: {words}", file=sys.stderr)
    if found or unused:
        sys.exit(f"prose: {found} to rewrite, {len(unused)} stale exceptions")
    print(f"prose: ok, {len(files)} files")


if __name__ == "__main__":
    main(sys.argv[1:])
