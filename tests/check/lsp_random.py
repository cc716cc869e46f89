#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Send random edits to the language server one by one, and compare its findings
and their places with those of `gpugate lint` for the resulting texts. For a text
that cannot be parsed, the server must show the syntax errors and the findings of
the last text that could be parsed, moved by the edits since.

usage: lsp_random.py GPUGATE EDITS [SEED]
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[1]
FILES = ("shm-missing/bad.yaml", "quota-would-exceed/bad.yaml",
         "gpu-toleration-missing/bad.yaml", "priority-class-missing/bad.yaml")
PIECES = ["\n", "\r\n", " ", "  ", "-", ":", "# é 🎉 ü\n", "name: ü🎉\n",
          "x: [\n", "]", "{", "}", '"', "'", "\t", "---\n", "é", "🎉",
          "nvidia.com/gpu: 8\n", "        nvidia.com/gpu: 1000\n",
          "spec:\n", "  image: x\n", "replicas: 3\n", "# gpugate: ignore[shm-missing] -- why\n",
          "kind: Pod\n", "apiVersion: v1\n", "a: &a b\n", "*a", "|\n", "&"]


class Server:
    """Requests are answered after all diagnostics of earlier changes."""

    def __init__(self, program, root, encodings):
        self.process = subprocess.Popen(
            [program, "lsp", "--show-all"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.diagnostics = {}
        answer = self.request("initialize", {
            "rootUri": root.as_uri(),
            "capabilities": {"general": {"positionEncodings": encodings}}})
        self.encoding = answer["capabilities"]["positionEncoding"]

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(
            b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = int(self.process.stdout.readline().split(b":")[1])
        self.process.stdout.readline()
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, params=None):
        self.send(method=method, params=params)

    def request(self, method, params=None):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                return message["result"]
            if message["method"] == "textDocument/publishDiagnostics":
                params = message["params"]
                self.diagnostics[params["uri"]] = params["diagnostics"]

    def end(self):
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait()


def lint(program, *arguments, text=None):
    run = subprocess.run([program, "lint", "--show-all", "--format", "json", *arguments],
                         input=text, capture_output=True, check=False)
    return json.loads(run.stdout)["findings"]


class Position:
    """Converts byte offsets to the protocol's positions, and lines and columns
    of the report to byte offsets."""

    def __init__(self, text, encoding):
        self.text, self.encoding = text, encoding
        self.starts = [0]
        for i, byte in enumerate(text):
            if byte == 10:
                self.starts.append(i + 1)

    def offset(self, line, column):
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        before = self.text[start:end].decode()[:column - 1]
        return start + len(before.encode())

    def position(self, offset):
        line = max(i for i, s in enumerate(self.starts) if s <= offset)
        start = self.starts[line]
        stop = self.starts[line + 1] - 1 if line + 1 < len(self.starts) else \
            len(self.text)
        if stop > start and line + 1 < len(self.starts) and \
                self.text[stop - 1] == 13:
            stop -= 1
        part = self.text[start:min(offset, stop)]
        units = len(part) if self.encoding == "utf-8" else \
            len(part.decode().encode("utf-16-le")) // 2
        return {"line": line, "character": units}


def shift(changes, offset):
    for start, end, length in changes:
        if offset >= end:
            offset += start + length - end
        elif offset > start:
            offset = start
    return offset


SEVERITIES = {"error": 1, "warning": 2, "info": 3}


class Document:
    def __init__(self, path):
        self.path = path
        self.uri = path.as_uri()
        self.text = self.good = path.read_bytes()
        self.version = 1
        self.changes = []
        self.findings = []
        self.mistakes = None

    def places(self, findings, text, changes, encoding):
        old, new = Position(text, encoding), Position(self.text, encoding)
        for f in findings:
            a = old.offset(f["line"], f["column"])
            b = old.offset(f["endLine"], f["endColumn"])
            start, end = shift(changes, a), shift(changes, b)
            if start == end and a != b:
                continue
            help_text = "\n" + f["help"] if f["help"] else ""
            yield (f["rule"], SEVERITIES[f["severity"]],
                   f["message"] + help_text,
                   json.dumps([new.position(start), new.position(end)]))

    def expected(self, encoding):
        if self.mistakes is None:
            yield from self.places(self.findings, self.text, [], encoding)
            return
        for rule, severity, message, place in self.places(
                self.mistakes, self.text, [], encoding):
            yield rule, severity, message.split("\n")[0], place
        yield from self.places(self.findings, self.good, self.changes,
                               encoding)


def shown(diagnostics):
    for d in diagnostics:
        message = d["message"]
        yield (d["code"], d["severity"], message,
               json.dumps([d["range"]["start"], d["range"]["end"]]))


def boundary(text, at):
    while 0 < at < len(text) and (text[at] & 0xc0 == 0x80 or
                                  text[at - 1:at + 1] == b"\r\n"):
        at -= 1
    return at


def random_edit(random_, document):
    """Return start, end and bytes of an edit at a random place. Most edits are
    small; two fifths of those of a broken text restore its last good one."""
    text = document.text
    if document.mistakes is not None and random_.random() < 0.4:
        return 0, len(text), document.good  # undo
    start = boundary(text, random_.randrange(len(text) + 1))
    end = start
    if random_.random() < 0.5:
        end = boundary(text, min(len(text),
                                 start + random_.choice((1, 1, 2, 5, 30))))
    piece = random_.choice(PIECES) if random_.random() < 0.8 else ""
    if random_.random() < 0.1:
        a = boundary(text, random_.randrange(len(text) + 1))
        piece = text[a:boundary(text, min(len(text), a + 200))].decode()
    return start, max(start, end), piece.encode()


def lone_cr(text):
    return any(text[i] == 13 and text[i + 1:i + 2] != b"\n"
               for i in range(len(text)))


def lint_all(program, folder, documents):
    findings = lint(program, str(folder))
    for d in documents:
        if d.mistakes is None:
            d.findings = []
    for f in findings:
        for d in documents:
            if f["file"] == str(d.path):
                if d.mistakes is None:
                    d.findings.append(f)
    return findings


def apply(program, folder, documents, document, edit):
    start, end, piece = edit
    # Equal characters at both ends are not replaced.
    old, new = document.text[start:end].decode(), piece.decode()
    head = len(os.path.commonprefix([old, new]))
    old, new = old[head:], new[head:]
    tail = len(os.path.commonprefix([old[::-1], new[::-1]]))
    start += len(piece.decode()[:head].encode())
    piece = new[:len(new) - tail].encode()
    end = start + len(old[:len(old) - tail].encode())
    document.text = document.text[:start] + piece + document.text[end:]
    document.changes.append((start, end, len(piece)))
    document.version += 1
    mistakes = [f for f in lint(program, "-", "--stdin-filename",
                                str(document.path), text=document.text)
                if f["rule"] == "invalid-syntax"]
    document.mistakes = mistakes or None
    if not mistakes:
        document.good, document.changes = document.text, []
        document.path.write_bytes(document.text)
    # All good texts are on disk; a broken document keeps its last good text.
    broken = [d for d in documents if d.mistakes is not None]
    held = [d.mistakes for d in broken]
    for d in broken:
        d.mistakes = None
    lint_all(program, folder, documents)
    for d, m in zip(broken, held):
        d.mistakes = m


def main():
    program, edits = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    random_ = random.Random(seed)
    wrong = broken = compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for i, source in enumerate(FILES):
            text = (HERE / "rules" / source).read_bytes()
            (folder / f"{i}.yaml").write_bytes(text)
        documents = [Document(p) for p in sorted(folder.iterdir())][:3]
        first = [d.text for d in documents]
        server = Server(program, folder,
                        ["utf-16", "utf-8"] if seed % 2 else ["utf-16"])
        for d in documents:
            server.notify("textDocument/didOpen", {"textDocument": {
                "uri": d.uri, "languageId": "yaml", "version": 1,
                "text": d.text.decode()}})
        lint_all(program, folder, documents)
        for n in range(edits):
            d = random_.choice(documents)
            edit = random_edit(random_, d)
            if n % 60 == 59:  # from the start, so broken documents stay broken
                edit = (0, len(d.text), first[documents.index(d)])
            after = d.text[:edit[0]] + edit[2] + d.text[edit[1]:]
            if lone_cr(after) or b"{{" in after or b"{%" in after:
                continue
            position = Position(d.text, server.encoding).position
            server.notify("textDocument/didChange", {
                "textDocument": {"uri": d.uri, "version": d.version + 1},
                "contentChanges": [{
                    "range": {"start": position(edit[0]),
                              "end": position(edit[1])},
                    "text": edit[2].decode()}]})
            apply(program, folder, documents, d, edit)
            broken += d.mistakes is not None
            server.request("textDocument/hover", {
                "textDocument": {"uri": d.uri},
                "position": {"line": 0, "character": 0}})
            for e in documents:
                compared += 1
                want = sorted(e.expected(server.encoding))
                got = sorted(shown(server.diagnostics.get(e.uri, [])))
                if want == got:
                    continue
                wrong += 1
                print(f"FAIL edit {n}: {edit} in {e.path.name}, broken: "
                      f"{e.mistakes is not None}")
                for w in [x for x in want if x not in got][:3]:
                    print("  lint:  ", w)
                for g in [x for x in got if x not in want][:3]:
                    print("  server:", g)
                if wrong > 5:
                    return 1
        ended = server.end()
    print(f"{edits} edits (seed {seed}, {server.encoding}), {broken} of them "
          f"left a broken text; {compared} documents compared")
    return wrong > 0 or ended != 0


if __name__ == "__main__":
    sys.exit(main())
