#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the walk-through of `gpugate lint FILE` in lint/README.md.

Each function must be defined in a file that its line names, or if it names none, a
line above; a global function is a symbol of that file's object. It must be called,
or passed as an argument, by the function before it in the line, or by the function
under which the line is indented. A name without parentheses is a function pointer:
the function before it calls the pointer, and the one after it is assigned to it.

usage: walk_through.py BUILD
"""
import pathlib
import re
import subprocess
import sys

README = pathlib.Path("lint/README.md")
MOST = 25
ITEM = re.compile(r"^( *)- (`.*)$")
QUOTED = re.compile(r"`([^`]+)`")


def items():
    """Yield (number of the line, indentation, functions, files) of each line."""
    lines = README.read_text().split("\n")
    start = lines.index("## From a file to its findings")
    for number, line in enumerate(lines[start + 1:], start + 2):
        if line.startswith("The exit status"):
            return
        found = ITEM.match(line)
        if not found:
            continue
        words = QUOTED.findall(found.group(2))
        files = [path(w) for w in words if w.endswith(".c")]
        yield (number, len(found.group(1)),
               [w for w in words if not w.endswith(".c")], files)


def path(name):
    return name if name.startswith("rules/") else "lint/" + name


def definition(source, name):
    """Return (true if global, body), or None."""
    if not pathlib.Path(source).exists():
        return None
    found = re.search(r"^(\w[\w *]*?)\b%s\([^;{]*?\)\n\{\n(.*?)^\}" % name,
                      pathlib.Path(source).read_text(),
                      re.MULTILINE | re.DOTALL)
    return found and (not found.group(1).startswith("static"), found.group(2))


def is_symbol(build, source, name):
    out = subprocess.run(["nm", build / source.replace(".c", ".o")], check=True,
                         capture_output=True, text=True).stdout
    return re.search(r" [TW] %s$" % name, out, re.MULTILINE)


def leads_to(caller, callee, everything):
    """Return true if the caller calls or names the callee. Each is (name,
    body); a pointer has no body."""
    name, body = caller
    if body is None:
        return re.search(r"\b%s = %s\b" % (name, callee[0]), everything)
    pattern = r"\b%s\(" if callee[1] is None else r"\b%s\b"
    return re.search(pattern % callee[0], body)


def main():
    build = pathlib.Path(sys.argv[1])
    wrong, above, lines = [], [], list(items())
    everything = "".join(f.read_text()
                         for f in pathlib.Path("lint/run").glob("*.c"))
    for number, depth, names, files in lines:
        above = [a for a in above if a[0] < depth]
        last = above[-1][1] if above else None
        files = files or (above[-1][2] if above else [])
        for word in names:
            name, body = word.removesuffix("()"), None
            if word != name:
                found = [(f, definition(f, name)) for f in files]
                found = [(f, d) for f, d in found if d]
                if not found:
                    wrong.append(f"{README}:{number}: no {word} in {files}")
                    break
                source, (shared, body) = found[0]
                if shared and not is_symbol(build, source, name):
                    wrong.append(f"{README}:{number}: {word} is no symbol of "
                                 f"{source}")
            if last and not leads_to(last, (name, body), everything):
                wrong.append(f"{README}:{number}: {last[0]}() does not call "
                             f"{word}")
            last = (name, body)
        above.append((depth, last, files))
    if not 0 < len(lines) <= MOST:
        wrong.append(f"{README}: {len(lines)} lines, at most {MOST}")
    print("\n".join(wrong), file=sys.stderr)
    print(f"walk-through: {sum(len(i[2]) for i in lines)} functions in "
          f"{len(lines)} lines")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
