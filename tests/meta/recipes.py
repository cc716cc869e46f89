#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that each recipe of the documents is run by a test or listed with a reason.

usage: recipes.py [--list | --commands DOCUMENT]

A recipe is a command of a shell block (fenced, or indented by four columns), a
command of an administrator within a sentence, or a fenced block of another
language, named by its first line. recipes.txt lists each with the script that
runs it, or with the reason why none does. The check fails for a recipe that is
not listed, for a line without a recipe, and for a script that does not exist or
lacks the words after it. --list prints the missing lines, to be completed;
--commands prints the commands of one document, for the tests that run them.
"""
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).with_suffix(".txt")
# The rules' pages are made from their examples, which tests/run-rules.sh runs.
DOCUMENTS = ["*.md", ":!rules/docs", ":!.github/CHANGELOG.md"]
SHELL = {"", "sh", "shell", "bash", "console"}
# In a block without a language, only lines that match this are commands.
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )?(?:(?:apt-get|build/gpugate|cd|chown|code"
                     r"|docker|flux|gpugated?|helm|kubectl|kustomize|make|npm|pip"
                     r"|sh|systemctl|pre-commit)\b|tests/)")
INLINE = re.compile(r"(?<!`)`((?:apt|buildah|docker|helm|kubectl|pip|podman|skopeo"
                    r"|systemctl)\s[^`\s]+\s[^`]+)`(?!`)")


def blocks(text):
    """Yield (language, lines) of each block: fenced at any depth, or indented."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        fence = re.match(r"( *)```(\w*)$", lines[at])
        start = at
        if fence:
            at += 1
            while at < len(lines) and lines[at].strip() != "```":
                at += 1
            yield fence[2], lines[start + 1:at]
        elif lines[at].startswith("    ") and not lines[at - 1].strip():
            while at < len(lines) and (not lines[at].strip() or
                                       lines[at].startswith("    ")):
                at += 1
            if not re.match(r" *(?:[-*]|\d+\.) ", lines[start]):
                yield "", lines[start:at]
            continue
        at += 1


def commands(language, lines):
    """Yield the commands without prompts, comments and output."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).split("\n")
    if language == "console":
        joined = [line[2:] for line in joined if line.startswith("$ ")]
    for line in joined:
        line = re.sub(r"(^|\s)# .*", "", line)
        line = " ".join(line.split())
        if line and line != "set -eu" and (language or COMMAND.match(line)):
            yield line


def recipes():
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard",
         *DOCUMENTS], check=True, capture_output=True, text=True).stdout
    for name in names.split():
        text = pathlib.Path(name).read_text()
        for command in INLINE.findall(text):
            yield name, " ".join(command.split())
        for language, lines in blocks(text):
            if language in SHELL:
                for command in commands(language, lines):
                    yield name, command
            elif language != "text" and any(map(str.strip, lines)):
                first = next(line for line in lines if line.strip())
                yield name, f"{language}: {first.strip()}"


def listed():
    """Return {(document, recipe): how it is tested, or why not}."""
    found, document = {}, None
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if line.startswith("#") or not line:
            continue
        if not line.startswith("\t"):
            document = line
            continue
        recipe, how = line.strip().split("\t")
        if (document, recipe) in found:
            sys.exit(f"{LIST}:{number}: listed twice")
        found[document, recipe] = how
    return found


def is_test(how):
    """Return true if `PATH[: WORDS]` names a file that contains the words."""
    path, _, words = how.partition(": ")
    file = pathlib.Path(path)
    return file.is_file() and words in file.read_text()


def main():
    wanted = list(dict.fromkeys(recipes()))
    if sys.argv[1:2] == ["--commands"]:
        print(*(recipe for name, recipe in wanted if name == sys.argv[2]),
              sep="\n")
        return
    known = listed() if LIST.exists() else {}
    missing = [key for key in wanted if key not in known]
    if "--list" in sys.argv:
        document = None
        for name, recipe in missing:
            if name != document:
                print(name)
            document = name
            print(f"\t{recipe}\t")
        return
    problems = [f"{name}: `{recipe}` is not listed" for name, recipe in missing]
    problems += [f"{name}: there is no `{recipe}`" for name, recipe in known
                 if (name, recipe) not in wanted]
    reasons = 0
    for (name, recipe), how in known.items():
        if how.startswith("not run: "):
            reasons += 1
        elif not is_test(how):
            problems.append(f"{name}: `{recipe}`: there is no {how}")
    for problem in problems:
        print("recipes.txt: " + problem, file=sys.stderr)
    if problems or len(wanted) < 70:
        sys.exit(1)
    print(f"recipes: {len(wanted)}, {len(wanted) - reasons} run by a test,"
          f" {reasons} with a reason")


if __name__ == "__main__":
    main()
