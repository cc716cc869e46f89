#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test the live state and gpugated with a real API server that is filled, changed
and killed.

usage: live_churn.py LIVE_TOOL GPUGATED LIVE_LOAD CONTROL_PLANE_DIR RESTART SECONDS

RESTART is a command that kills the API server and starts it again.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TOOL, GPUGATED, LOAD, CLUSTER, RESTART, SECONDS = sys.argv[1:7]
SIZE = ["250", "5000", "44000", "500"]
sys.argv[1:] = [TOOL]
from live import fresh, late, normal  # noqa: E402 pylint: disable=wrong-import-position

# The kubeconfig of an account with the rights that deploy/ grants.
CONFIG = os.path.join(CLUSTER, "account.kubeconfig")
failed = []


def check(what, good, detail=""):
    if not good:
        failed.append(what)
        print(f"FAILED {what}: {detail}")


class Tool:
    def __init__(self, work):
        self.log = os.path.join(work, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([TOOL, CONFIG, "first=120000"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, text=True)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def status(self):
        return json.loads(self.ask("status"))

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()


def page(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except OSError as why:
        return getattr(why, "code", 0), str(why)


def serve(work):
    """Check gpugated, with its sandbox, on that cluster: readiness, metrics, exit."""
    subprocess.run([GPUGATED, "certs", "--dir", work + "/certs", "--dns", "localhost"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(work + "/gpugated.log", "wb") as log:
        daemon = subprocess.Popen(
            [GPUGATED, "--tls-cert", work + "/certs/tls.crt", "--tls-key", work + "/certs/tls.key", "--listen",
             "127.0.0.1:0", "--probe-listen", "127.0.0.1:0", "--kubeconfig", CONFIG], stderr=log)
    port, end = None, time.monotonic() + 60
    while time.monotonic() < end:
        with open(work + "/gpugated.log", encoding="utf-8") as f:
            found = re.search(r'"probes listening".*"port":(\d+)', f.read())
        port = found and int(found.group(1))
        if port and page(port, "/readyz")[0] == 200:
            break
        time.sleep(0.2)
    time.sleep(3)
    metrics = page(port, "/metrics")[1]
    age = re.search(r"^gpugate_cluster_state_age_seconds (\S+)", metrics, re.M)
    check("metrics have the age", age and 0 <= float(age.group(1)) < 100, age and age.group(0))
    check("lists are counted", "\ngpugate_cluster_relists_total " in metrics)
    check("objects are counted", re.search(r'^gpugate_cluster_objects{kind="ResourceQuota",group=""} 5000$', metrics,
                                           re.M), metrics[-1500:])
    with open(f"/proc/{daemon.pid}/status", encoding="ascii") as f:
        resident = int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))
    print(f"gpugated with that state: {resident / 1024:.1f} MiB resident")
    daemon.terminate()
    check("gpugated ends well", daemon.wait(30) == 0)
    with open(work + "/gpugated.log", encoding="utf-8") as f:
        check("the sandbox rejects nothing", "sandbox rejected" not in f.read())


def settle(tool):
    """Wait until no new state is published and the state is young; 60 s at most.
    Return the status."""
    last, end = None, time.monotonic() + 60
    while time.monotonic() < end:
        s = tool.status()
        now = s["published"], s["counts"], s["relists"]
        if now == last and s["age"] < 10:
            return s
        last = now
        time.sleep(2.5)
    return tool.status()


def changes(kind, seconds, rate):
    return subprocess.run([LOAD, CLUSTER, kind, seconds, str(rate), *SIZE], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


def restart_thrice():
    for _ in range(3):
        time.sleep(float(SECONDS) / 6)
        check("a restart", subprocess.run(RESTART, shell=True, check=False).returncode == 0)


def main():
    work = tempfile.mkdtemp(prefix="live-")
    print(subprocess.run([LOAD, CLUSTER, "fill", *SIZE], check=True, capture_output=True, text=True).stdout.strip())
    began = time.monotonic()
    tool = Tool(work)
    tool.ask("wait")
    loaded = time.monotonic() - began
    before = tool.status()
    objects = sum(before["counts"].values())
    print(f"{objects} objects loaded in {loaded:.1f} s, {before['rss'] / 1024:.1f} MiB resident")
    check("all are there", objects >= 50000, before)
    tool.ask("forget")
    print("of all kinds:", changes("churn", str(int(SECONDS) // 4 + 1), 2000))
    restarts = threading.Thread(target=restart_thrice)
    restarts.start()
    # More than the required 1,000, because workers that are late do not catch up.
    told = changes("small", SECONDS, 1200)
    restarts.join()
    print("while it is killed 3 times:", told)
    # The median ignores the seconds after each start, in which the API server is
    # slow.
    median = int(re.search(r"median second (\d+)", told).group(1))
    check("1,000 changes a second", median >= 1000 or os.environ.get("TIMES") != "strict", told)
    end = settle(tool)
    tool.ask(f"write {work}/now")
    equal = normal(work + "/now") == fresh(CONFIG, work + "/fresh")
    print(f"the API server killed 3 times: {end['events']} events, {end['relists']} lists anew, {end['published']} "
          f"states; resident {before['rss'] / 1024:.1f} -> {end['rss'] / 1024:.1f} MiB; equal to a fresh list: {equal}")
    late(end)
    check("equal", equal, work)
    check("nothing is unreadable", not end["unreadable"], end)
    with open(TOOL, "rb") as f:
        sanitized = b"__asan_init" in f.read()
    # A sanitizer keeps freed memory, so that it grows; it reports leaks at the end.
    check("memory does not grow", sanitized or end["rss"] < before["rss"] * 1.25 + 4096)
    check("the log has the end of an outage", "answers again" in tool.text(), tool.text()[-2000:])
    tool.process.communicate("quit\n", 20)
    check("a clean end", tool.process.returncode == 0 and "Sanitizer" not in tool.text(), tool.text()[-3000:])
    serve(work)
    if not failed:
        shutil.rmtree(work)
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
