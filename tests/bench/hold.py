# SPDX-License-Identifier: Apache-2.0
"""Keep N connections to the webhook open; each is used for one review first.
Print "held" then, and close them when standard input ends.

usage: hold.py PORT N BODY
"""
import socket
import ssl
import sys


def request(path):
    with open(path, "rb") as file:
        body = file.read()
    return (b"POST /validate HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)) + body


def main():
    port, n = int(sys.argv[1]), int(sys.argv[2])
    text = request(sys.argv[3])
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    held = []
    for _ in range(n):
        plain = socket.create_connection(("127.0.0.1", port))
        held.append(context.wrap_socket(plain))
        held[-1].sendall(text)
        if not held[-1].recv(4096).startswith(b"HTTP/1.1 200"):
            sys.exit("hold: not 200")
    print("held", flush=True)
    sys.stdin.read()


main()
