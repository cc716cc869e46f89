# SPDX-License-Identifier: Apache-2.0
"""The fixture of tests of the live state: a server that misbehaves on demand, a
kubeconfig, and the tool that keeps the state (the first argument is its path)."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from live_server import FakeServer

TOOL = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
SLOW = float(os.environ.get("LIVE_PATIENCE", "1"))


class Failed(Exception):
    pass


def check(what, good, detail=""):
    if not good:
        raise Failed(f"{what}: {detail}")


def b64(path):
    with open(path, "rb") as f:
        return base64.b64encode(f.read()).decode()


class Case:
    """One test: its server, its kubeconfig, and the tool, which run() starts."""

    def __init__(self, certs):
        self.certs = certs
        self.dir = tempfile.mkdtemp(prefix="live-")
        self.server = FakeServer(certs).start()
        self.tool = None
        self.log = os.path.join(self.dir, "log")

    def end(self):
        """Stop the tool: it must end at once, without a leak or a sanitizer report."""
        if self.tool:
            self.ask("quit", False)
            code = self.tool.wait(10 * SLOW)
            stopped = [int(line.split()[2]) for line in self.text().splitlines() if line.startswith("stopped in ")]
            check("a clean end", code == 0 and "Sanitizer" not in self.text(), self.text()[-3000:])
            check("within a second", stopped and stopped[0] < 1000 * SLOW, stopped)

    def close(self):
        if self.tool and self.tool.poll() is None:
            self.tool.kill()
            self.tool.wait()
        self.server.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def kubeconfig(self, user=None, cluster=None):
        path = os.path.join(self.dir, "kubeconfig")
        user = user or {"client-certificate-data": b64(self.certs + "/client.crt"),
                        "client-key-data": b64(self.certs + "/client.key")}
        cluster = {"server": f"https://127.0.0.1:{self.server.port}",
                   "certificate-authority-data": b64(self.certs + "/ca.crt"), **(cluster or {})}
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "a",
                       "contexts": [{"name": "a", "context": {"cluster": "b", "user": "c"}}],
                       "clusters": [{"name": "b", "cluster": cluster}],
                       "users": [{"name": "c", "user": user}]}, f)
        return path

    def run(self, config=None, env=None, **times):
        times = {"first": 5000, "publish": 50, "retry": 100, "retry_max": 1000, "absent": 600, **times}
        with open(self.log, "ab") as log:
            self.tool = subprocess.Popen(
                [TOOL, config or self.kubeconfig(), *(f"{k}={v}" for k, v in times.items())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **(env or {})})
        return self

    def ask(self, command, answer=True):
        self.tool.stdin.write(command + "\n")
        self.tool.stdin.flush()
        return self.tool.stdout.readline() if answer else ""

    def status(self):
        return json.loads(self.ask("status"))

    def until(self, what, test, seconds=8):
        end = time.monotonic() + seconds * SLOW
        while True:
            s = self.status()
            if test(s):
                return s
            check(what, time.monotonic() < end, json.dumps(s) + "\n" + self.text()[-2000:])
            time.sleep(0.05)

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def state(self):
        path = os.path.join(self.dir, "state")
        self.ask("write " + path)
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def hard(self, name):
        for item in self.state()["items"]:
            if item["metadata"]["name"] == name and item["kind"] == "ResourceQuota":
                return item["spec"]["hard"]["requests.nvidia.com/gpu"]
        return None

    def watched(self, plural):
        return [r for r in self.server.requests if r[1] == plural and r[2]]

    def listed(self, plural):
        return [r for r in self.server.requests if r[1] == plural and not r[2]]


def quotas(s):
    return s["counts"].get("resourcequotas.", -1)


def pods(s):
    return s["counts"].get("pods.", -1)


def three(c):
    for i in range(3):
        c.server.put("namespaces", f"ns-{i}")
        c.server.quota(f"q-{i}", f"ns-{i}", str(i + 1))
        c.server.pod(f"p-{i}", f"ns-{i}", "1")


# --- the tests --------------------------------------------------------------


def normal(path):
    """Return a state for comparison: without its time and the names of nodes, because
    one node represents a group of equal ones."""
    with open(path, encoding="utf-8") as f:
        state = json.load(f)
    state.pop("takenAt", None)
    for item in state["items"]:
        if item["kind"] == "Node":
            item["metadata"].pop("name")
            item["metadata"]["labels"].pop("kubernetes.io/hostname", None)
    state["items"].sort(key=lambda item: json.dumps(item, sort_keys=True))
    return state


def fresh(config, path):
    """Return the state that a newly started tool reads; also write it to path."""
    subprocess.run([TOOL, config], input=f"wait\nwrite {path}\nquit\n", text=True, check=True, capture_output=True,
                   timeout=120 * SLOW)
    return normal(path)


def late(status):
    """Check that not many more verdicts take over 5 ms than in a webhook whose state is
    not updated."""
    now, still = status["now"], status["still"]
    check("verdicts were given", now["verdicts"] > 100 and now["status"] == 200, status)
    print(f"verdicts {now['verdicts']}: {now['late']} later than 5 ms, longest {now['longest_us'] / 1000:.1f} ms; "
          f"without updates {still['verdicts']}: {still['late']}, longest {still['longest_us'] / 1000:.1f} ms")
    check("updates block no verdict", now["late"] <= 5 + 2 * still["late"], status)
