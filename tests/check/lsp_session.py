#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a session of the language server with pygls as the client, which checks
the types of all messages: an editor's requests and the answers that users see.

usage: lsp_session.py GPUGATE
"""
import asyncio
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

RULES = pathlib.Path(__file__).resolve().parents[1] / "rules"
DEADLINE = 10


class Session:
    def __init__(self):
        self.client = LanguageClient("session", "1")
        self.published = {}
        self.registered = []
        self.requests = 0
        self.failed = 0

        @self.client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params):
            self.published.setdefault(params.uri, []).append(params)

        @self.client.feature(t.CLIENT_REGISTER_CAPABILITY)
        def _(params):
            self.registered += params.registrations

    def check(self, name, good):
        self.failed += not good
        if not good:
            print(f"FAIL {name}")

    async def ask(self, method, params):
        self.requests += 1
        return await asyncio.wait_for(
            self.client.protocol.send_request_async(method, params), DEADLINE)

    def tell(self, method, params):
        self.requests += 1
        self.client.protocol.notify(method, params)

    def open(self, path, text, version=1):
        self.tell(t.TEXT_DOCUMENT_DID_OPEN, t.DidOpenTextDocumentParams(
            t.TextDocumentItem(path.as_uri(), "yaml", version, text)))

    def change(self, path, version, text, start=None, end=None):
        change = t.TextDocumentContentChangeWholeDocument(text=text)
        if start:
            change = t.TextDocumentContentChangePartial(
                range=t.Range(t.Position(*start), t.Position(*end)),
                text=text)
        self.tell(t.TEXT_DOCUMENT_DID_CHANGE, t.DidChangeTextDocumentParams(
            t.VersionedTextDocumentIdentifier(version, path.as_uri()),
            [change]))

    async def diagnostics(self, path):
        """Return the diagnostics of the last version. A later request is
        answered after them."""
        await self.hover(path, 0, 0)
        return self.published[path.as_uri()][-1].diagnostics

    async def hover(self, path, line, character):
        return await self.ask(t.TEXT_DOCUMENT_HOVER, t.HoverParams(
            t.TextDocumentIdentifier(path.as_uri()),
            t.Position(line, character)))

    async def complete(self, path, line, character):
        return await self.ask(t.TEXT_DOCUMENT_COMPLETION, t.CompletionParams(
            t.TextDocumentIdentifier(path.as_uri()),
            t.Position(line, character))) or []

    async def actions(self, path, range_, only=None):
        return await self.ask(t.TEXT_DOCUMENT_CODE_ACTION, t.CodeActionParams(
            t.TextDocumentIdentifier(path.as_uri()), range_,
            t.CodeActionContext(diagnostics=[], only=only)))


def offset(text, position):
    """Return the index in a str of a position in UTF-16."""
    lines = text.split("\n")
    at = sum(len(line) + 1 for line in lines[:position.line])
    line = lines[position.line].encode("utf-16-le")
    return at + len(line[:position.character * 2].decode("utf-16-le"))


def applied(text, action):
    edits = action.edit.document_changes[0].edits
    # Edits at one place are made in their order.
    for edit in sorted(reversed(edits), reverse=True,
                       key=lambda e: (e.range.start.line,
                                      e.range.start.character)):
        text = text[:offset(text, edit.range.start)] + edit.new_text + \
            text[offset(text, edit.range.end):]
    return text


def codes(diagnostics):
    return sorted(d.code for d in diagnostics)


def capabilities():
    return t.ClientCapabilities(workspace=t.WorkspaceClientCapabilities(
        workspace_edit=t.WorkspaceEditClientCapabilities(
            document_changes=True),
        did_change_watched_files=t.DidChangeWatchedFilesClientCapabilities(
            dynamic_registration=True)))


async def start(s, program, folder):
    await s.client.start_io(program, "lsp")
    answer = await s.ask(t.INITIALIZE, t.InitializeParams(
        capabilities=capabilities(), root_uri=folder.as_uri(),
        workspace_folders=[t.WorkspaceFolder(folder.as_uri(), "w")]))
    s.check("incremental", answer.capabilities.text_document_sync.change ==
            t.TextDocumentSyncKind.Incremental)
    s.check("utf-16", answer.capabilities.position_encoding == "utf-16")
    s.tell(t.INITIALIZED, t.InitializedParams())


async def repairs(s, program, folder):
    path = folder / "bad.yaml"
    text = path.read_text()
    s.open(path, text)
    found = await s.diagnostics(path)
    shm = [d for d in found if d.code == "shm-missing"]
    s.check("a finding", shm and shm[0].range.start.line == 6)
    s.check("watches files", len(s.registered) == 1)
    offered = await s.actions(path, shm[0].range)
    fix = [a for a in offered if a.title.endswith("[shm-missing]")]
    s.check("a repair, preferred", fix and fix[0].is_preferred)
    s.check("nothing else is preferred", len(offered) > 1 and
            [a for a in offered if a.is_preferred] == fix)
    after = applied(text, fix[0])
    s.change(path, 2, after)
    s.check("the repair removes one finding",
            len(await s.diagnostics(path)) == len(found) - 1)
    s.change(path, 3, text)
    all_ = await s.actions(path, t.Range(t.Position(0, 0), t.Position(0, 0)),
                           ["source.fixAll"])
    s.check("repair all", [a.kind for a in all_] == ["source.fixAll.gpugate"])
    copy = folder.parent / "copy.yaml"
    shutil.copy(path, copy)
    subprocess.run([program, "lint", "-qq", "--fix", copy], check=False)
    s.check("as --fix", applied(text, all_[0]) == copy.read_text())
    s.check("a version", all_[0].edit.document_changes[0].text_document.version
            == 3)
    return path, text, found, shm[0]


async def comments(s, path, text, found, shm):
    offered = await s.actions(path, shm.range, ["quickfix"])
    ignore = [a for a in offered if a.title.startswith("Ignore shm-missing")]
    s.check("a comment", len(ignore) == 1)
    s.change(path, 4, applied(text, ignore[0]))
    s.check("the comment suppresses it",
            len(await s.diagnostics(path)) == len(found) - 1)
    s.change(path, 5, "# gpugate: ignore[shm]\n", (0, 0), (0, 0))
    names = await s.complete(path, 0, 21)
    s.check("names in a comment", "shm-missing" in [i.label for i in names])
    s.check("none elsewhere", not await s.complete(path, 3, 0))
    said = await s.hover(path, 7, 14)
    s.check("why", said is None or "**Why:**" in said.contents.value)
    s.change(path, 6, text)


async def half_typed(s, path, found):
    s.change(path, 7, "x: [\n", (1, 0), (1, 0))
    now = await s.diagnostics(path)
    s.check("a mistake", codes(now) == sorted(codes(found) +
                                              ["invalid-syntax"]))
    moved = [d.range.start.line for d in now if d.code != "invalid-syntax"]
    s.check("the others moved", moved == [d.range.start.line + 1
                                          for d in found])
    s.check("no repair of half a text",
            not await s.actions(path, now[0].range))
    s.change(path, 8, "", (1, 0), (2, 0))
    s.check("as before", await s.diagnostics(path) == found)


async def utf16(s, folder):
    path = folder / "wide.yaml"
    head = 'apiVersion: v1\nkind: Pod\nmetadata: {name: "🎉", labels: '
    s.open(path, head + "{a: b}}\nspec: {containers: [{name: a, image: x}]}\n")
    await s.diagnostics(path)
    # Columns count UTF-16 units: "🎉" has two.
    column = len(head.split("\n")[2]) + 1
    s.change(path, 2, "[", (2, column), (2, column + 1))
    s.check("one character was replaced",
            codes(await s.diagnostics(path)) == ["invalid-syntax"])
    s.change(path, 3, "{", (2, column), (2, column + 1))
    s.check("and back", "invalid-syntax" not in
            codes(await s.diagnostics(path)))
    s.tell(t.TEXT_DOCUMENT_DID_CLOSE, t.DidCloseTextDocumentParams(
        t.TextDocumentIdentifier(path.as_uri())))


async def sets(s, folder):
    """Test a quota in one file and the workload in another one."""
    quota, job = folder / "q" / "quota.yaml", folder / "q" / "job.yaml"
    quota.parent.mkdir()
    quota.write_text("apiVersion: v1\nkind: ResourceQuota\nmetadata: "
                     "{name: q, namespace: ml}\nspec: {hard: "
                     "{requests.nvidia.com/gpu: 1}}\n")
    s.tell(t.WORKSPACE_DID_CHANGE_WATCHED_FILES,
           t.DidChangeWatchedFilesParams([t.FileEvent(
               quota.as_uri(), t.FileChangeType.Created)]))
    s.open(job, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: "
           "ml}\nspec:\n  containers:\n  - name: c\n    image: i\n"
           "    resources: {limits: {nvidia.com/gpu: 4}}\n")
    found = await s.diagnostics(job)
    never = [d for d in found if d.code == "quota-never-fits"]
    s.check("a rule over the set", len(never) == 1)
    s.check("and the other place", never and never[0].related_information and
            never[0].related_information[0].location.uri == quota.as_uri())
    s.open(quota, quota.read_text().replace(": 1}", ": 8}"))
    s.check("the open text counts",
            "quota-never-fits" not in codes(await s.diagnostics(job)))
    s.tell(t.TEXT_DOCUMENT_DID_CLOSE, t.DidCloseTextDocumentParams(
        t.TextDocumentIdentifier(quota.as_uri())))
    s.check("and the file again",
            "quota-never-fits" in codes(await s.diagnostics(job)))
    s.check("closed", not s.published[quota.as_uri()][-1].diagnostics)
    return job


async def policies(s, folder, job):
    path = folder / ".gpugate.yaml"
    text = "apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n  \n"
    s.open(path, text)
    names = await s.complete(path, 3, 2)
    s.check("names in a policy", "shm-missing" in [i.label for i in names])
    s.change(path, 2, "shm-misng: {severity: error}", (3, 2), (3, 2))
    found = await s.diagnostics(path)
    s.check("did you mean", [d.range.start.line for d in found] == [3] and
            "shm-missing" in found[0].message)
    good = "  quota-never-fits: {action: off}\n"
    s.change(path, 3, good, (3, 0), (4, 0))
    s.check("no problem", not await s.diagnostics(path))
    said = await s.hover(path, 3, 5)
    s.check("the rule's text", said and "quota-never-fits" in
            said.contents.value)
    before = codes(await s.diagnostics(job))
    path.write_text(text.replace("  \n", good))
    s.tell(t.TEXT_DOCUMENT_DID_SAVE, t.DidSaveTextDocumentParams(
        t.TextDocumentIdentifier(path.as_uri())))
    after = codes(await s.diagnostics(job))
    s.check("the saved policy holds", "quota-never-fits" in before and
            "quota-never-fits" not in after)
    path.write_text("apiVersion: gpugate.dev/v1\nkind: Policy\nx: [")
    s.tell(t.TEXT_DOCUMENT_DID_SAVE, t.DidSaveTextDocumentParams(
        t.TextDocumentIdentifier(path.as_uri())))
    s.check("a broken one changes nothing",
            codes(await s.diagnostics(job)) == after)
    path.unlink()


async def errors(s, job):
    at = t.TextDocumentIdentifier(job.as_uri())
    for method, params, code in (
            (t.TEXT_DOCUMENT_DEFINITION,
             t.DefinitionParams(at, t.Position(0, 0)), -32601),
            (t.INITIALIZE, t.InitializeParams(capabilities()), -32600)):
        try:
            await s.ask(method, params)
            s.check(method, False)
        except JsonRpcException as error:
            s.check(method, error.code == code)
    s.check("no such document", await s.hover(job.with_name("no.yaml"), 0, 0)
            is None)


async def latency(s, folder):
    """Measure the time from a change in a file of 1,000 lines to its
    diagnostics."""
    path = folder.parent / "long" / "long.yaml"
    path.parent.mkdir()
    one = (RULES / "shm-missing" / "good.yaml").read_text()
    text = ""
    while text.count("\n") < 1000:
        text += one + "---\n"
    text = "\n".join(text.split("\n")[:1000]) + "\n"
    s.open(path, text)
    await s.diagnostics(path)
    times = []
    for i in range(40):
        begin = time.perf_counter()
        s.change(path, 2 + i, "#", (0, 0), (0, 0))
        await s.diagnostics(path)
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    print(f"a change of {text.count(chr(10))} lines to its diagnostics, pygls "
          f"included: median {times[20]:.1f} ms, best {times[0]:.1f} ms")


async def main():
    program = sys.argv[1]
    s = Session()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve() / "w"
        folder.mkdir()
        shutil.copy(RULES / "shm-missing" / "bad.yaml", folder)
        await start(s, program, folder)
        path, text, found, shm = await repairs(s, program, folder)
        await comments(s, path, text, found, shm)
        await half_typed(s, path, found)
        await utf16(s, folder)
        job = await sets(s, folder)
        await policies(s, folder, job)
        await errors(s, job)
        await latency(s, folder)
        await s.ask(t.SHUTDOWN, None)
        s.tell(t.EXIT, None)
        code = await asyncio.wait_for(s.client._server.wait(), DEADLINE)
        s.check("exit status 0", code == 0)
    s.check("a session of 30 requests", s.requests >= 30)
    print(f"session: {s.requests} requests and notifications, "
          f"{s.failed} wrong")
    return s.failed > 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
