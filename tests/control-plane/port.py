# SPDX-License-Identifier: Apache-2.0
"""Print a port of 127.0.0.1 that the kernel chose, and reserve it until the process
PID ends: neither clients nor other callers get it meanwhile, and a server of the
test may listen there, stop, and listen again.

usage: port.py PID
"""
import os
import select
import socket
import sys

test = os.pidfd_open(int(sys.argv[1]))
held = socket.socket()
held.bind(("127.0.0.1", 0))
# Set after the bind: otherwise the kernel might choose a port that is reserved
# like this one.
held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
print(held.getsockname()[1], flush=True)
if os.fork() == 0:
    os.setsid()
    # A caller waits for any process that has its files open.
    nothing = os.open(os.devnull, os.O_RDWR)
    kept = [os.dup2(fd, to) for fd, to in (
        (nothing, 0), (nothing, 1), (nothing, 2),
        (os.dup2(test, 1000), 3), (os.dup2(held.fileno(), 1001), 4))]
    os.closerange(len(kept), 65536)
    select.select([3], [], [])
os._exit(0)
