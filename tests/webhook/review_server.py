# SPDX-License-Identifier: Apache-2.0
"""Serves the webhooks of injector.py (changes Pods) and of
tests/deploy/conditions.py (records which reviews it gets): HTTPS on a free port of 127.0.0.1."""
import http.server
import json
import ssl
import threading


def serve(cert, key, answer):
    """Serve reviews and return the port. answer(path, request) is called for
    each request in a separate thread, and returns the response without uid and
    allowed."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = json.loads(body)["request"]
            review = json.dumps({
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": {"uid": request["uid"], "allowed": True,
                             **answer(self.path, request)},
            }).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(review)))
            self.end_headers()
            self.wfile.write(review)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
