# SPDX-License-Identifier: Apache-2.0
"""Run a shell command while `lint -vv --fix` has read a file but not written it.

usage: paused.py PROGRAM FILE COMMAND

With -vv the program names the file on standard error between the two steps.
Standard error is a pipe with room for the previous message only, so the program
waits until the command has run and the pipe is emptied.
"""
import fcntl
import os
import subprocess
import sys
import termios
import time

ROOM = 80  # more than "gpugate: 0.001 s: 1 files listed", less than the name


def waiting(pipe):
    size = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(size, sys.byteorder)


def asleep(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] == "S"


def main():
    program, name, command = sys.argv[1:]
    assert len(name) > ROOM
    out, to = os.pipe()
    fcntl.fcntl(to, fcntl.F_SETPIPE_SZ, 4096)
    filled = fcntl.fcntl(to, fcntl.F_GETPIPE_SZ) - ROOM
    os.write(to, b"-" * filled)
    child = subprocess.Popen([program, "lint", "-vv", "-j1", "--isolated",
                              "--format", "concise", "--fix", name],
                             stderr=to, stdout=subprocess.DEVNULL)
    os.close(to)
    while waiting(out) == filled or not asleep(child.pid):
        assert child.poll() is None, "it did not stop"
        time.sleep(0.01)
    subprocess.run(command, shell=True, check=True)
    text = b""
    while chunk := os.read(out, 65536):
        text += chunk
    sys.stderr.write(text[filled:].decode())
    sys.exit(child.wait())


main()
