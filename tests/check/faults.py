# SPDX-License-Identifier: Apache-2.0
"""Run both programs while their memory allocations and system calls fail.

usage: faults.py lint N GPUGATE FAULT_SO
       faults.py kernel N GPUGATE     (at most N of each kind of system call)
       faults.py bounded N GPUGATE    (N sizes of its address space)
       faults.py serve N GPUGATED FAULT_SO CERTS
       faults.py start N GPUGATED FAULT_SO CERTS
"""
import collections
import http.client
import json
import mmap
import os
import random
import re
import resource
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import tempfile
import time

BUG_STATUS = 70
SEED = 20


class Faults:
    """The memory through which a test controls fault.c and reads its counters."""

    def __init__(self, folder, library):
        self.path = os.path.join(folder, "faults")
        with open(self.path, "wb") as file:
            file.write(bytes(4096))
        self.file = open(self.path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 4096)
        self.library = library

    def arm(self, on=1):
        self.map[:24] = struct.pack("<QQQ", on, 0, 0)

    def calls(self):
        return struct.unpack("<Q", self.map[8:16])[0]

    def failures(self):
        return struct.unpack("<Q", self.map[16:24])[0]

    def environment(self, **more):
        return dict(os.environ, LD_PRELOAD=self.library, FAULT_FILE=self.path,
                    **{k: str(v) for k, v in more.items()})


class Problems:
    def __init__(self):
        self.seen = collections.Counter()
        self.outcomes = collections.Counter()

    def add(self, text, where):
        self.seen[text] += 1
        if self.seen[text] <= 3:
            print("%s: %s" % (text, where))

    def end(self, what, failures):
        print("%s: %d failures injected, outcomes %s" %
              (what, failures, dict(self.outcomes)))
        return 1 if self.seen or not failures else 0


# --- the linter ------------------------------------------------------------

COMMANDS = {
    "report": ["lint", "--isolated", "-j1", "--format", "json:out.json",
               "a.yaml"],
    "fix": ["lint", "--isolated", "-j1", "--fix", "--unsafe-fixes",
            "--format", "concise", "a.yaml"],
    "baseline": ["lint", "--isolated", "-j1", "--write-baseline", "base.json",
                 "a.yaml"],
    "folder": ["lint", "-j2", "--policy", "own", "--cluster", "state.json",
               "--format", "sarif:out.sarif", "--format", "full", "."],
    "quota": ["quota", "a.yaml", "sub"],
    "post-render": ["post-render", "--report-file", "report.txt"],
}
POLICY = b"apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
# System calls and their injected errors. Each call of a run fails in turn,
# except those before main(), which are the C library's. A failing brk()
# reports no error: see bounded().
SYSTEM_CALLS = {
    "read": "EIO", "write": "ENOSPC", "pread64": "EIO", "pwrite64": "ENOSPC",
    "openat": "EMFILE", "newfstatat": "EIO", "getdents64": "EIO",
    "mmap": "ENOMEM", "clone3": "EAGAIN", "clone": "EAGAIN",
    "getrandom": "ENOSYS", "fsync": "EIO", "rename": "EIO",
    "renameat2": "EIO", "fcntl": "EINVAL", "lseek": "EIO", "close": "EIO",
    "getcwd": "ENOENT", "readlink": "EIO", "access": "EIO", "unlink": "EIO",
    "fchmod": "EPERM", "fchown": "EPERM", "ioctl": "ENOTTY",
}
OUT_OF_MEMORY = b"gpugate: out of memory\n"


class Linter:
    """A program, and the folder it works in."""

    def __init__(self, program, folder, problems):
        self.program, self.folder = program, folder
        self.problems = problems
        examples = "deploy/examples/bad/"
        self.given = {"own/policy.yaml": POLICY}
        for name, path in (
                ("a.yaml", examples + "serve.yaml"),
                ("sub/b.yaml", examples + "train.yaml"),
                ("sub/c.yaml", examples + "quota.yaml"),
                ("own/rules.yaml", "tests/check/export-rules.yaml"),
                ("state.json", "tests/rules/gpu-toleration-missing/"
                 "bad-nodes.cluster.json")):
            with open(path, "rb") as file:
                self.given[name] = file.read()

    def run(self, name, before=(), **more):
        shutil.rmtree(self.folder)
        for entry, text in self.given.items():
            path = os.path.join(self.folder, entry)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text)
        return subprocess.run(
            list(before) + [self.program] + COMMANDS[name], cwd=self.folder,
            input=self.given["a.yaml"], capture_output=True, check=False,
            **more)

    def files(self):
        found = {}
        for folder, _, entries in os.walk(self.folder):
            for entry in entries:
                path = os.path.join(folder, entry)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.folder)] = file.read()
        return found

    def truth(self, name, before=(), **more):
        self.name = name
        self.expected = self.run(name, before, **more)
        self.whole = self.files()
        if self.expected.returncode not in (0, 1):
            sys.exit("%s: %s" % (name, self.expected.stderr.decode()))

    def judge(self, result, where):
        """Check the outcome of a run in which a call failed."""
        now, add = self.files(), self.problems.add
        where = "%s, %s: %d, %s" % (self.name, where, result.returncode,
                                    result.stderr[-200:])
        same = result.returncode == self.expected.returncode
        self.problems.outcomes[result.returncode] += 1
        if not same and result.returncode != 2:
            add("another status", where)
        elif not same and not result.stderr:
            add("no reason", where)
        if same and result.stdout != self.expected.stdout and \
                b"its lines cannot be shown" not in result.stderr:
            add("another result without an error", where)
        for name in set(now) | set(self.whole):
            text = now.get(name)
            if text == self.whole.get(name):
                continue
            if name not in self.whole:
                if "unlink" not in where:
                    add("a file left", name + ", " + where)
            elif same and result.stderr == self.expected.stderr:
                add("another result without an error", name + ", " + where)
            elif text != self.given.get(name) and not is_whole(name, text):
                add("half a file", name + ", " + where)


def is_whole(name, text):
    """Return true for a complete JSON report, which may lack the manifest that
    could not be read."""
    try:
        return name.startswith("out.") and bool(json.loads(text))
    except ValueError:
        return False


def lint(n, program, library):
    problems, injected = Problems(), 0
    choose = random.Random(SEED)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "work")
        os.mkdir(folder)
        linter, faults = Linter(program, folder, problems), Faults(top, library)

        def run(name, at, allocate, ask):
            faults.arm()
            return ask(name, env=faults.environment(FAULT_AT=at,
                                                    FAULT_ALLOCATE=allocate))
        for name in COMMANDS:
            for allocate in 0, 1:
                run(name, 0, allocate, linter.truth)
                calls = faults.calls()
                # Few calls are not for memory: fail each of them once.
                ats = [choose.randint(1, calls) for _ in range(
                    n // len(COMMANDS))] if allocate else range(1, calls + 1)
                for at in ats:
                    linter.judge(run(name, at, allocate, linter.run),
                                 "call %d" % at)
                    injected += faults.failures()
    return problems.end("lint", injected)


def system_calls(linter, name, log):
    """Return the number of calls of each type, and of those before main()."""
    linter.truth(name, ["strace", "-f", "-qq", "-o", log])
    count, before = collections.Counter(), None
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            call = re.match(r"\d+ +(\w+)\((\d+, F_GETFD)?", line)
            if not call:
                continue
            if call.group(2) and before is None:
                before = dict(count)
            count[call.group(1)] += 1
    return count, before


def kernel(n, program):
    problems, injected = Problems(), 0
    with tempfile.TemporaryDirectory() as top:
        folder, log = os.path.join(top, "work"), os.path.join(top, "log")
        os.mkdir(folder)
        linter = Linter(program, folder, problems)
        for name in COMMANDS:
            count, before = system_calls(linter, name, log)
            for call, error in SYSTEM_CALLS.items():
                first = before.get(call, 0) + 1
                for at in range(first, min(count[call], first + n) + 1):
                    linter.judge(linter.run(name, [
                        "strace", "-f", "-qq", "-o", log, "--seccomp-bpf",
                        "-e", "trace=" + call, "-e",
                        "inject=%s:error=%s:when=%d" % (call, error, at)]),
                        "%s %d" % (call, at))
                    injected += 1
    return problems.end("kernel", injected)


def bounded(n, program):
    """Run with several threads, and with address spaces of many sizes, from one
    that is too small."""
    problems, out = Problems(), 0
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "work")
        os.mkdir(folder)
        linter = Linter(program, folder, problems)
        for name in COMMANDS:
            linter.truth(name)
            for i in range(n):
                # With less memory, exec() itself fails.
                size = (5 << 20) + i * (40 << 20) // n
                result = linter.run(name, preexec_fn=lambda: (
                    resource.setrlimit(resource.RLIMIT_AS, (size, size))))
                linter.judge(result, "%d bytes" % size)
                out += result.stderr == OUT_OF_MEMORY
    return problems.end("bounded", out)


# --- the webhook -----------------------------------------------------------

POD = {"apiVersion": "v1", "kind": "Pod",
       "metadata": {"name": "p", "namespace": "a",
                    "annotations": {"notes": "n" * 20000}},
       "spec": {"containers": [{
           "name": "c", "image": "registry.example.com/a:1",
           "resources": {"limits": {"nvidia.com/gpu": "1"},
                         "requests": {"nvidia.com/gpu": "2"}}}]}}
REVIEW = json.dumps({
    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    "request": {"uid": "u", "operation": "CREATE", "namespace": "a",
                "name": "p", "userInfo": {"username": "alice"},
                "kind": {"group": "", "version": "v1", "kind": "Pod"},
                "object": POD}})


class Webhook:
    def __init__(self, program, folder, faults, certs):
        self.program, self.folder, self.faults = program, folder, faults
        self.certs = certs
        self.policy = os.path.join(folder, "policy.yaml")
        with open(self.policy, "wb") as file:
            file.write(POLICY)
        self.state = os.path.join(folder, "state.json")
        self.touch_state()
        self.context = ssl.create_default_context(
            cafile=os.path.join(certs, "ca.crt"))

    def touch_state(self):
        """Replace the state file by a new copy."""
        shutil.copyfile("tests/rules/gpu-toleration-missing/"
                        "bad-nodes.cluster.json", self.state)

    def start(self, armed=0, **faults):
        """Start the webhook and return true if it becomes ready. With `armed`, the
        given faults happen during the start."""
        self.log = os.path.join(self.folder, "log")
        self.faults.arm(armed)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "--listen", "127.0.0.1:0", "--probe-listen",
                 "127.0.0.1:0", "--live", "off", "--threads", "2",
                 "--policy", self.policy, "--cluster", self.state,
                 "--tls-cert", os.path.join(self.certs, "tls.crt"),
                 "--tls-key", os.path.join(self.certs, "tls.key")],
                env=self.faults.environment(**faults), stderr=log)
        for _ in range(600):
            text = self.text()
            if '"msg":"ready"' in text:
                break
            if self.process.poll() is not None:
                return False
            time.sleep(0.02)
        port = re.search(r'"msg":"listening".*"port":(\d+)', text)
        # With failing calls, the log may lack this line.
        self.port = int(port.group(1)) if port else None
        port = re.search(r'"msg":"probes listening".*"port":(\d+)', text)
        self.probe = int(port.group(1)) if port else None
        if not armed:
            self.faults.arm()
        return True

    def text(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def ask(self):
        if not self.port:
            return "no port"
        connection = http.client.HTTPSConnection(
            "localhost", self.port, timeout=20, context=self.context)
        try:
            connection.request("POST", "/validate", REVIEW,
                               {"Content-Type": "application/json"})
            reply = connection.getresponse()
            body = reply.read()
            if reply.status != 200:
                return str(reply.status)
            allowed = json.loads(body)["response"]["allowed"]
            return "allowed" if allowed else "denied"
        except ConnectionRefusedError:
            # The program no longer listens: it is ending.
            self.process.wait(20)
            return "refused"
        except (OSError, http.client.HTTPException):
            return "no answer"
        finally:
            connection.close()

    def figures(self):
        """Read /metrics. Return false if the page is incomplete; a connection
        that ends without a page is fine."""
        if not self.probe:
            return True
        connection = http.client.HTTPConnection("localhost", self.probe,
                                                timeout=20)
        try:
            connection.request("GET", "/metrics")
            return b"process_start_time" in connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return True
        finally:
            connection.close()

    def stop(self):
        """Kill the program. Return its exit status, or None if it was alive."""
        status = self.process.poll()
        self.faults.map[:8] = struct.pack("<Q", 0)
        if status is None:
            self.process.kill()
            self.process.wait()
        return status


def check_end(webhook, problems, where, statuses=(BUG_STATUS,)):
    status = webhook.stop()
    problems.outcomes["alive" if status is None else status] += 1
    if status is None:
        return
    lines = webhook.text().splitlines()
    if status not in statuses:
        problems.add("ended with %d" % status, where)
    elif status == BUG_STATUS and not any(
            '"stopped by a bug in gpugated' in line for line in lines):
        # Writing this line may be the call that failed.
        problems.outcomes["without its line"] += 1


def serve(n, program, library, certs):
    problems, injected, seed = Problems(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        webhook = Webhook(program, folder, Faults(folder, library), certs)
        while injected < n and seed < n:
            seed += 1
            # A connection or a reload without memory must not end the program.
            allocate, reload = seed % 3, seed % 2
            webhook.start(FAULT_SEED=seed, FAULT_ALLOCATE=allocate,
                          FAULT_EVERY=(12, 60, 300)[allocate])
            where = "seed %d" % seed
            for i in range(60):
                if reload and i % 10 == 5:
                    webhook.process.send_signal(signal.SIGHUP)
                    webhook.touch_state()
                if i % 10 == 7 and not webhook.figures():
                    problems.add("a part of the figures", where)
                answer = webhook.ask()
                problems.outcomes[answer] += 1
                if answer == "allowed":
                    problems.add("allowed what is denied", where)
                if webhook.process.poll() is not None:
                    break
            injected += webhook.faults.failures()
            check_end(webhook, problems, where, ())
    return problems.end("serve", injected)


def start(n, program, library, certs):
    problems, injected = Problems(), 0
    choose = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        webhook = Webhook(program, folder, Faults(folder, library), certs)
        for allocate in 0, 1:
            webhook.start(1, FAULT_ALLOCATE=allocate)
            calls = webhook.faults.calls()
            webhook.stop()
            for i in range(min(n, calls)):
                at = choose.randint(1, calls) if allocate else i + 1
                where = "start, allocate %d, call %d" % (allocate, at)
                ready = webhook.start(1, FAULT_AT=at, FAULT_ALLOCATE=allocate)
                answer = webhook.ask() if ready else "not ready"
                problems.outcomes[answer] += 1
                if answer == "allowed":
                    problems.add("allowed what is denied", where)
                if not ready and webhook.process.poll() is None:
                    problems.add("neither ready nor ended", where)
                if not ready and not webhook.text():
                    problems.add("no reason", where)
                injected += webhook.faults.failures()
                check_end(webhook, problems, where, (1, 2, BUG_STATUS))
    return problems.end("start", injected)


if __name__ == "__main__":
    run = {"lint": lint, "kernel": kernel, "bounded": bounded,
           "serve": serve, "start": start}[sys.argv[1]]
    sys.exit(run(int(sys.argv[2]), *sys.argv[3:]))
