# SPDX-License-Identifier: Apache-2.0
"""The live state's tests of who it is and whom it trusts: tokens, plugins,
certificates. Run by live.py."""
import os
import time

from live_case import SLOW, b64, check, quotas, three
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


def plugin(c, text):
    path = os.path.join(c.dir, "plugin")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "args": ["a b", "c"],
                     "env": [{"name": "WHO", "value": "me"}], "provideClusterInfo": True,
                     "interactiveMode": "IfAvailable", "installHint": "get the plugin"}}


def test_exec(c):
    three(c)
    user = plugin(c, """
echo "$@ $WHO $KUBERNETES_EXEC_INFO" >>"$(dirname "$0")/said"
n=$(wc -l <"$(dirname "$0")/said")
at=$(date -u -d "+64 seconds" +%Y-%m-%dT%H:%M:%SZ)
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t%s","expirationTimestamp":"%s"}}' "$n" "$at"
""")
    seen = set()

    def fault(h, plural, watch, query):
        seen.add(h.headers.get("Authorization"))
        return False
    c.server.fault = fault
    c.run(c.kubeconfig(user=user)).until("all", lambda s: quotas(s) == 3)
    with open(os.path.join(c.dir, "said"), encoding="utf-8") as f:
        said = f.read()
    check("asked once", said.count("\n") == 1, said)
    check("arguments, environment, cluster", said.startswith("a b c me {") and "certificate-authority-data" in said, said)
    check("its token", seen == {"Bearer t1"}, seen)
    time.sleep(4.5)
    c.server.stop()
    c.server.start()
    c.server.quota("q-1", "ns-1", "31")
    c.until("renewed before it ends", lambda s: c.hard("q-1") == "31" and "Bearer t2" in seen)


def test_exec_refused(c):
    """A 401 makes the plugin be asked again."""
    three(c)
    user = plugin(c, """
echo x >>"$(dirname "$0")/said"
printf '{"status":{"token":"t%s"}}' "$(wc -l <"$(dirname "$0")/said")"
""")
    c.server.fault = lambda h, plural, watch, query: (
        h.headers.get("Authorization") == "Bearer t1" and h.status(401, "Unauthorized"))
    c.run(c.kubeconfig(user=user)).until("all", lambda s: quotas(s) == 3)


def test_exec_fails(c):
    three(c)
    c.run(c.kubeconfig(user=plugin(c, "echo no luck >&2; exit 3\n")), first=500)
    c.until("not for ever", lambda s: s["first"])
    end = time.monotonic() + 5 * SLOW
    while "no luck" not in c.text() and time.monotonic() < end:
        time.sleep(0.1)
    check("its own words", "no luck" in c.text() and "get the plugin" in c.text(), c.text())


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
