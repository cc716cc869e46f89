# SPDX-License-Identifier: Apache-2.0
"""Tests of the live state's credentials and of the server certificates that it
trusts. Run by live.py."""
import os

from live_case import b64, check, quotas, three
from live_server import FakeServer


def test_token_file(c):
    three(c)
    token = os.path.join(c.dir, "token")
    with open(token, "w", encoding="ascii") as f:
        f.write("one\n")
    wanted = ["Bearer one"]
    c.server.fault = lambda h, plural, watch, query: (
        h.headers.get("Authorization") != wanted[0] and h.status(401, "Unauthorized"))
    c.run(c.kubeconfig(user={"tokenFile": "token"})).until("all", lambda s: quotas(s) == 3)
    wanted[0] = "Bearer two"
    c.server.stop()
    with open(token + ".new", "w", encoding="ascii") as f:
        f.write("two")
    os.rename(token + ".new", token)
    c.server.quota("q-1", "ns-1", "21")
    c.server.start()
    c.until("the new token", lambda s: c.hard("q-1") == "21")
    os.unlink(token)
    c.server.stop()
    c.server.quota("q-1", "ns-1", "22")
    c.server.start()
    c.until("the last one while the file is away", lambda s: c.hard("q-1") == "22")


def test_wrong_authority(c):
    three(c)
    c.run(c.kubeconfig(cluster={"certificate-authority-data": b64(c.certs + "/other.crt")}), first=500)
    s = c.until("not for ever", lambda s: s["first"])
    check("no state from a stranger", not s["counts"], s)
    check("told", "certificate" in c.text(), c.text())
    check("no request came", not c.server.requests, c.server.requests)


def test_server_name(c):
    three(c)
    c.run(c.kubeconfig(cluster={"tls-server-name": "fake.test"})).until("all", lambda s: quotas(s) == 3)


def test_wrong_server_name(c):
    c.run(c.kubeconfig(cluster={"tls-server-name": "else.test"}), first=500)
    s = c.until("not for ever", lambda s: s["first"])
    check("no state", not s["counts"] and not c.server.requests, s)


def test_redirect(c):
    other = FakeServer(c.certs).start()
    c.server.fault = lambda h, plural, watch, query: h.answer(
        302, b"", [("Location", f"https://127.0.0.1:{other.port}{h.path}")])
    c.run(first=500).until("not for ever", lambda s: s["first"])
    check("not followed", not other.requests, other.requests)
    other.stop()
