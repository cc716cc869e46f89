# SPDX-License-Identifier: Apache-2.0
"""Check that an object gets the same findings however it is written in YAML or JSON.

usage: rewritten_input.py BUILD FOLDER...

Every object of the folders is written as JSON, in one line, with its keys
sorted, as the API server sends them, and sorted backward, so that any two keys
are in both orders, as block YAML, with anchors, with merge keys, in a List,
with CRLF and a byte order mark, as UTF-16 and as the second document. Findings
must be the same except for positions (rule, severity, texts, pointer, pod,
container, fingerprint, patch), and each position must be where the writer put
the key or the value that the pointer names, or one of its children.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MANIFEST = (".yaml", ".yml", ".json")
SHOWN = 20


def documents(dump, folders):
    files = [str(p) for folder in folders
             for p in sorted(pathlib.Path(folder).rglob("*"))
             if p.suffix in MANIFEST]
    for i in range(0, len(files), 200):
        run = subprocess.run([dump, *files[i:i + 200]], capture_output=True,
                             text=True, errors="replace", check=False)
        for line in run.stdout.splitlines():
            if not line.startswith("{") or "{{" in line or "{%" in line:
                continue
            value = json.loads(line)
            # Lists are made by a way of writing; a snapshot is not a manifest.
            if "kind" in value and "List" not in str(value["kind"]) and \
                    value["kind"] != "ClusterSnapshot":
                yield value


def quote(text):
    return json.dumps(text, ensure_ascii=False)


def below(pointer, key):
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


class Writer:
    """Text, and the places of the key and the value of each pointer in it."""

    def __init__(self):
        self.parts = []
        self.line = self.column = 1
        self.places = collections.defaultdict(set)

    def at(self):
        return self.line, self.column

    def put(self, text):
        self.parts.append(text)
        lines = text.count("\n")
        self.line += lines
        self.column = (len(text) - text.rfind("\n") if lines
                       else self.column + len(text))

    def note(self, pointer, start):
        self.places[pointer].add((start, self.at()))
        self.places[pointer].add(start)

    def key(self, pointer, key, colon):
        start = self.at()
        self.put(quote(key))
        self.note(pointer, start)
        self.put(colon)


def write_json(out, value, pointer="", indent=None, depth=0):
    start, inner, end = out.at(), "", ""
    if indent is not None:
        inner = "\n" + " " * indent * (depth + 1)
        end = "\n" + " " * indent * depth
    if isinstance(value, (dict, list)):
        is_map = isinstance(value, dict)
        out.put("{" if is_map else "[")
        items = value.items() if is_map else enumerate(value)
        for i, (key, child) in enumerate(items):
            out.put("," * (i > 0) + inner)
            path = below(pointer, str(key))
            if is_map:
                out.key(path, key, ": ")
            write_json(out, child, path, indent, depth + 1)
        out.put(end * bool(value) + ("}" if is_map else "]"))
    else:
        out.put(quote(value))
    out.note(pointer, start)


class Block:
    """Writes block YAML. With `names`, which counts subtrees, one that occurs
    more than once becomes an anchor and aliases."""

    def __init__(self, out, names=None, merge=False, comment=""):
        self.out, self.names, self.merge = out, names, merge
        self.comment, self.known = comment, {}

    def write(self, value, pointer="", indent=0):
        if not isinstance(value, (dict, list)) or not value:
            write_json(self.out, value, pointer)
        elif not self.alias(value, pointer):
            start = self.out.at()
            children = self.map if isinstance(value, dict) else self.list
            children(value, pointer, indent)
            self.out.note(pointer, start)

    def alias(self, value, pointer):
        text = quote(value)
        if self.names is None or self.names[text] < 2:
            return False
        start, name = self.out.at(), self.known.get(text)
        if name:
            self.out.put("*" + name)
            self.out.note(pointer, start)
            return True
        self.known[text] = f"a{len(self.known)}"
        self.out.put(f"&{self.known[text]} ")
        return False

    def map(self, value, pointer, indent):
        items = list(value.items())
        half = len(items) // 2 if self.merge else len(items)
        for key, child in items[:half]:
            self.out.put("\n" * (self.out.column > 1) + " " * indent)
            self.out.key(below(pointer, key), key, ": ")
            self.write(child, below(pointer, key), indent + 2)
            self.out.put(self.comment)
        if half < len(items):
            self.out.put("\n" * (self.out.column > 1) + " " * indent + "<<: ")
            write_json(self.out, dict(items[half:]), pointer)

    def list(self, value, pointer, indent):
        for i, child in enumerate(value):
            self.out.put("\n" + " " * indent + "- ")
            self.write(child, f"{pointer}/{i}", indent + 2)


def subtrees(value, counts):
    if isinstance(value, (dict, list)) and value:
        counts[quote(value)] += 1
        for child in value.values() if isinstance(value, dict) else value:
            subtrees(child, counts)
    return counts


def by_key(value, reverse=False):
    if isinstance(value, list):
        return [by_key(child, reverse) for child in value]
    if not isinstance(value, dict):
        return value
    return {key: by_key(value[key], reverse)
            for key in sorted(value, reverse=reverse)}


def in_list(value):
    return {"apiVersion": "v1", "kind": "List", "items": [value]}


def plain(text):
    return text.encode()


WAYS = {
    "json": lambda o, v: write_json(o, v, indent=2),
    "line": lambda o, v: write_json(o, v),
    "sorted": lambda o, v: write_json(o, by_key(v), indent=1),
    "backward": lambda o, v: write_json(o, by_key(v, reverse=True), indent=1),
    "block": lambda o, v: Block(o).write(v),
    "anchors": lambda o, v: Block(
        o, subtrees(v, collections.Counter())).write(v),
    "merge": lambda o, v: Block(o, merge=True).write(v),
    "list": lambda o, v: Block(o).write(in_list(v)),
    "crlf": lambda o, v: Block(o, comment=" # é").write(v),
    "utf16": lambda o, v: Block(o).write(v),
    "second": lambda o, v: (o.put("# none\n---\nkind: none\n---\n"),
                               Block(o, comment=" # 字").write(v)),
}
BYTES = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
    "utf16": lambda text: text.encode("utf-16"),
}


def identity(finding, prefix):
    """Return everything but the position. Patches may copy a value, in any order of
    keys."""
    path = finding["path"]
    assert path.startswith(prefix), (path, prefix)
    # The key of an emptied list is removed with it, unless an anchor needs the
    # key.
    patch = re.sub(r'("op": "remove", "path": "[^"]*/(env|tolerations))/0"',
                   r'\1"', json.dumps(finding.get("fix", {}).get("patch"),
                                      sort_keys=True))
    return (finding["rule"], finding["severity"], finding["message"],
            finding["help"], path[len(prefix):], finding["pod"],
            finding["container"], finding["fingerprint"],
            patch.replace(f'"{prefix}/', '"/'),
            tuple(sorted(r["message"] for r in finding["related"])))


def is_placed(finding, places):
    start = finding["line"], finding["column"]
    end = finding["endLine"], finding["endColumn"]
    pointer = finding["path"]
    # A map or list of several lines is marked on its first line.
    if (start, end) in places[pointer] or start in places[pointer]:
        return True
    return any((start, end) in spans for child, spans in places.items()
               if child.startswith(pointer + "/"))


def lint(gpugate, folder):
    run = subprocess.run(
        [gpugate, "lint", "--isolated", "--no-ignore-vcs", "--preset", "all",
         "--fail-on", "never", "--show-all", "--format", "json", "."],
        cwd=folder, capture_output=True, check=False)
    if run.returncode or run.stderr:
        sys.exit(f"exit status {run.returncode}: {run.stderr.decode()}")
    return json.loads(run.stdout)["findings"]


def write_all(objects, way, folder):
    """Write each object to a file and return {file: places of its pointers}."""
    places = {}
    for i, value in enumerate(objects):
        out, name = Writer(), f"{i:05}.yaml"
        WAYS[way](out, value)
        out.put("\n")
        text = BYTES.get(way, plain)("".join(out.parts))
        pathlib.Path(folder, name).write_bytes(text)
        places[name] = out.places
    return places


def look_at(gpugate, objects, way):
    """Return the findings by file, and the findings at a wrong place."""
    with tempfile.TemporaryDirectory() as folder:
        places = write_all(objects, way, folder)
        findings = lint(gpugate, folder)
    prefix = "/items/0" if way == "list" else ""
    found = collections.defaultdict(collections.Counter)
    astray = []
    for finding in findings:
        found[finding["file"]][identity(finding, prefix)] += 1
        # A finding in an aliased value is shown at its anchor.
        if way != "anchors" and not is_placed(finding,
                                              places[finding["file"]]):
            astray.append(finding)
    return found, astray


def main():
    build, folders = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    objects = list(documents(f"{build}/tests/tools/doc_dump", folders))
    wanted, passed, failed = None, 0, 0
    for way in WAYS:
        found, astray = look_at(f"{build}/gpugate", objects, way)
        for finding in astray[:SHOWN]:
            print(f"FAIL {way}: place of {finding}")
        wanted = wanted or found
        for name in sorted(wanted.keys() | found.keys()):
            if found[name] == wanted[name]:
                passed += 1
                continue
            failed += 1
            kind = objects[int(name[:5])]["kind"]
            for sign, extra in (("-", wanted[name] - found[name]),
                                ("+", found[name] - wanted[name])):
                for what in list(extra)[:2] if failed < SHOWN else ():
                    print(f"FAIL {way}: {kind} {sign} {what}")
        failed += len(astray)
    print(f"{len(objects)} objects written in {len(WAYS)} ways")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not objects)


main()
