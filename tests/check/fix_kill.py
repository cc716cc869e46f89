# SPDX-License-Identifier: Apache-2.0
"""Interrupt --fix at any moment: each file must be the old text or the new one.

- SIGKILL at random moments of a run over many files
- no space left for the new text (a small tmpfs), and a limit on file sizes
- files that may not be written, folders that take no new file

Temporaries of a killed run are called .NAME.PID-N, so they are never read as
manifests. A run that fails by itself leaves none.
"""
import errno
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

FILES = 60
NOBODY = 65534


class Check:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def __call__(self, ok, what):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= 20:
                print("FAIL", what, file=sys.stderr)
        return ok

    def skip(self, why):
        self.skipped += 1
        print("skip:", why)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "wb") as file:
        file.write(text)


def command(gpugate, *more):
    return [gpugate, "lint", "--isolated", "--preset", "all",
            "--no-ignore-vcs", "--fail-on", "never", "--format", "concise",
            *more]


def run(gpugate, root, *more, **options):
    return subprocess.run(command(gpugate, *more, "."), cwd=root,
                          capture_output=True, **options)


def fill(root, manifest, n):
    """Write n files of different lengths into a few folders."""
    for i in range(n):
        folder = os.path.join(root, f"team-{i % 5}")
        os.makedirs(folder, exist_ok=True)
        write(os.path.join(folder, f"job-{i}.yaml"),
              b"# file %d\n" % i + b"# padding\n" * (i % 7 * 40) + manifest)


def tree(root):
    files, rest = {}, []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            if name.endswith(".yaml"):
                files[path] = read(os.path.join(root, path))
            else:
                rest.append(path)
    return files, rest


def is_temporary(path):
    return re.fullmatch(r"\.job-\d+\.yaml\.\d+-\d+", os.path.basename(path))


def killed(check, gpugate, root, old, new, wait):
    """Kill one run. Return whether it was hit, the files that are new already, and
    the temporary files."""
    child = subprocess.Popen(command(gpugate, "--fix", "-j", "2", "."),
                             cwd=root, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(wait)
    child.send_signal(signal.SIGKILL)
    child.wait()
    now, rest = tree(root)
    check(now.keys() == old.keys(), "a file came or went")
    for path, text in now.items():
        check(text in (old[path], new[path]),
              f"{path}: neither the old nor the new text after {wait:.4f} s")
    for path in rest:
        check(is_temporary(path), f"{path}: left behind")
    check(len(rest) <= 2, f"{len(rest)} temporaries of two threads")
    if rest:
        seen = run(gpugate, root, "-v")
        check(not any(os.path.basename(p).encode() in seen.stdout
                      for p in rest), "a temporary was read as a manifest")
    for path in rest:
        os.unlink(os.path.join(root, path))
    done = sum(now[p] != old[p] for p in now)
    for path in now:
        if now[path] != old[path]:
            write(os.path.join(root, path), old[path])
    return child.returncode == -signal.SIGKILL, done, len(rest)


def check_kills(check, gpugate, manifest, out, kills):
    root = os.path.join(out, "kill")
    fill(root, manifest, FILES)
    old, _ = tree(root)
    start = time.monotonic()
    done = run(gpugate, root, "--fix", "-j", "2")
    whole = time.monotonic() - start
    new, rest = tree(root)
    check(done.returncode == 0 and not rest, "the whole run")
    check(all(new[p] != old[p] for p in old), "every file is repaired")
    for path, text in old.items():
        write(os.path.join(root, path), text)
    random.seed(7)
    hits = between = left = 0
    for _ in range(3 * kills):
        hit, n, temporaries = killed(check, gpugate, root, old, new,
                                     random.uniform(0, whole))
        hits += hit
        between += 0 < n < FILES
        left += temporaries > 0
        # Adapt to a slow first run, or to a machine that is busier now.
        whole *= 1.02 if hit else 0.95
        if hits == kills:
            break
    print(f"kills: {hits}, {between} of them between the first and the last "
          f"file, {left} while a file was written")
    check(hits == kills, f"only {hits} kills hit a run")
    check(between >= kills // 8 and left, "kills hit the wrong moments")


def unchanged(check, what, done, root, old):
    now, rest = tree(root)
    check(done.returncode == 2, f"{what}: exit status {done.returncode}")
    check(b"not fixed" in done.stderr,
          f"{what}: {done.stderr[-300:].decode(errors='replace')}")
    for path in old:
        check(now.get(path) == old[path], f"{what}: {path} has changed")
    check(not [p for p in rest if is_temporary(p)], f"{what}: left {rest}")


def check_full(check, gpugate, manifest, out):
    root = os.path.join(out, "full")
    os.makedirs(root)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs",
                       root], capture_output=True).returncode:
        check.skip("a small tmpfs cannot be mounted here")
        return
    fill(root, manifest, 8)
    old, _ = tree(root)
    try:
        with open(os.path.join(root, "filler"), "wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
    except OSError as error:
        check(error.errno == errno.ENOSPC, "the filler")
    done = run(gpugate, root, "--fix")
    unchanged(check, "disk full", done, root, old)
    os.unlink(os.path.join(root, "filler"))
    done = run(gpugate, root, "--fix")
    check(done.returncode == 0, "with room again")
    check(all(tree(root)[0][p] != old[p] for p in old), "then it repairs")


def check_limit(check, gpugate, manifest, out):
    root = os.path.join(out, "limit")
    fill(root, manifest, 8)
    old, _ = tree(root)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    done = run(gpugate, root, "--fix", preexec_fn=limit,
               restore_signals=False)
    unchanged(check, "file size limit", done, root, old)


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def check_denied(check, gpugate, manifest, out):
    own = os.path.join(out, "gpugate")
    shutil.copy(gpugate, own)
    os.chmod(own, 0o755)
    for what, folder_mode, file_mode in (
            ("read-only files", 0o777, 0o444),
            ("read-only folder", 0o555, 0o666)):
        root = os.path.join(out, what.replace(" ", "-"))
        fill(root, manifest, 4)
        old, _ = tree(root)
        for folder, _, names in os.walk(root):
            for name in names:
                os.chmod(os.path.join(folder, name), file_mode)
            os.chmod(folder, folder_mode)
        done = run(own, root, "--fix", preexec_fn=as_nobody)
        unchanged(check, what, done, root, old)
        for folder, _, names in os.walk(root):
            for name in names:
                mode = os.stat(os.path.join(folder, name)).st_mode
                check(stat.S_IMODE(mode) == file_mode, f"{what}: mode")
            os.chmod(folder, 0o755)


def check_modes(check, gpugate, manifest, out):
    """Check that a fix keeps permissions and symbolic links."""
    root = os.path.join(out, "modes")
    fill(root, manifest, 2)
    real = os.path.join(root, "team-0", "job-0.yaml")
    link = os.path.join(root, "team-1", "job-9.yaml")
    os.symlink("../team-0/job-0.yaml", link)
    os.chmod(real, 0o640)
    before = read(real)
    done = run(gpugate, root, "--fix")
    check(done.returncode == 0, "permissions and links: exit status")
    check(read(real) != before and os.path.islink(link), "the link stays")
    check(stat.S_IMODE(os.stat(real).st_mode) == 0o640, "permissions stay")


def main():
    gpugate, rules, out, kills = sys.argv[1:]
    check = Check()
    os.chmod(out, 0o755)
    manifest = read(os.path.join(rules, "shm-missing", "bad.yaml"))
    check_kills(check, gpugate, manifest, out, int(kills))
    check_full(check, gpugate, manifest, out)
    check_limit(check, gpugate, manifest, out)
    check_denied(check, gpugate, manifest, out)
    check_modes(check, gpugate, manifest, out)
    print(f"fix broken off: {check.passed} passed, {check.failed} failed, "
          f"{check.skipped} skipped")
    sys.exit(check.failed > 0)


main()
