#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test shell completion by typing lines into a shell on a terminal.

usage: completion.py SHELL SHARE FOLDER

SHARE contains the installed files. gpugate on PATH prints "GOT" and its
arguments, each in brackets. A case is the typed line, with TAB as \\t, and the
expected result: the words that the program received, or the completions.
"""
import os
import pty
import re
import select
import sys
import time

PROMPT = "@@"
BELL_AND_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\x07\r]")

# Typed text and expected result. The first case tests the shell's first TAB.
CASES = [
    ("gpugate li\t", "GOT [lint]"),
    ("gpugate lint --isol\t-q", "GOT [lint] [--isolated] [-q]"),
    ("gpugate lint --fail-on e\t", "GOT [lint] [--fail-on] [error]"),
    ("gpugate lint --fail-on=e\t", "GOT [lint] [--fail-on=error]"),
    ("gpugate lint --select quota,shm-mi\t",
     "GOT [lint] [--select] [quota,shm-missing]"),
    ("gpugate lint --select=quota,shm-mi\t",
     "GOT [lint] [--select=quota,shm-missing]"),
    ("gpugate lint --format sari\t", "GOT [lint] [--format] [sarif]"),
    ("gpugate explain shm-mi\t", "GOT [explain] [shm-missing]"),
    ("gpugate lint manif\t", "GOT [lint] [manifest.yaml]"),
    ("gpugate completion f\t", "GOT [completion] [fish]"),
    ("kubectl-gpugate quo\t", "GOT [quota]"),
    ("gpugated --self-m\t", "GOT [--self-managed]"),
    ("gpugated --log-level w\t", "GOT [--log-level] [warn]"),
    ("gpugated --live off --log-level w\t",
     "GOT [--live] [off] [--log-level] [warn]"),
    ("gpugated certs --for\t", "GOT [certs] [--force]"),
    ("gpugate lint -n x --config manif\t",
     "GOT [lint] [-n] [x] [--config] [manifest.yaml]"),
    ("gpugate lint --config=manif\t",
     "GOT [lint] [--config=manifest.yaml]"),
    ("gpugated self\t", "GOT [selftest]"),
    ("gpugate lint --select shm-\t\t", "shm-hostpath"),
]


class Shell:
    def __init__(self, argv, env):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execvpe(argv[0], argv, env)

    def until(self, text, seconds=20):
        seen, end = "", time.monotonic() + seconds
        while text not in seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return seen, False
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return seen, False
            if b"\x1b[6n" in data:  # the shell asks for the cursor position
                self.send("\x1b[1;1R")
            seen += BELL_AND_ESCAPES.sub("", data.decode(errors="replace"))
        return seen, True

    def send(self, text):
        os.write(self.fd, text.encode())


def start(shell, share):
    env = {"PATH": os.environ["PATH"], "HOME": os.getcwd(), "TERM": "dumb",
           "LC_ALL": "C.UTF-8", "PS1": "", "XDG_DATA_DIRS": share}
    if shell == "bash":
        s = Shell(["bash", "--norc", "--noprofile", "-i"], env)
        files = os.path.join(share, "bash-completion", "completions")
        s.send(f"for f in {files}/*; do . $f; done; PS1=@''@; PS2=\n")
    else:
        s = Shell(["zsh", "-f", "-i"], env)
        s.send(f"RPS1=; unsetopt prompt_sp; fpath=({share}/zsh/site-functions $fpath); "
               "autoload -U compinit; compinit -u -D; PS1=@''@\n")
    seen, good = s.until(PROMPT)
    if not good:
        sys.exit(f"{shell} did not start: {seen}")
    return s


def fish(share, case):
    """Complete a line with fish's own command, which acts like TAB. Return the
    offers, and whether they have the expected one."""
    import subprocess
    typed, wanted = case
    line = typed.partition("\t")[0]
    files = os.path.join(share, "fish", "vendor_completions.d")
    done = subprocess.run(
        ["fish", "--no-config", "-c",
         f"set -p fish_complete_path {files}; complete -C \"{line}\""],
        capture_output=True, text=True, check=False)
    offers = [o.split("\t")[0] for o in done.stdout.splitlines()]
    word = re.findall(r"\[([^]]*)\]", wanted)
    if "\t-" in typed:
        word = word[:-1]
    word = word[-1] if word else wanted
    return offers, word in offers


def main():
    shell, share, folder = sys.argv[1:]
    os.chdir(folder)
    failed = 0
    s = None if shell == "fish" else start(shell, share)
    for case in CASES:
        if shell == "fish":
            seen, good = fish(share, case)
        else:
            s.send(case[0])
            if case[0].endswith("\t\t"):
                seen, good = s.until(case[1])
            else:
                time.sleep(0.3)
                s.send("\n")
                seen, good = s.until(PROMPT)
                good = good and case[1] + "\n" in seen
        if not good:
            failed += 1
            print(f"{shell}: {case[0]!r} gave {seen!r}, not {case[1]!r}")
            if s:
                s.send("\x03")
                s.until(PROMPT, 2)
    print(f"{shell}: {len(CASES) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
