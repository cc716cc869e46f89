# SPDX-License-Identifier: Apache-2.0
"""A client of the webhook for the tests of its command line.

https.py review CA PORT UID REQUESTED   POST /validate a Pod that may use one
                                        GPU and requests REQUESTED (2: wrong);
                                        `allowed` or `denied`, and the uid
https.py post CA PORT FILE              POST /validate the request in FILE;
                                        `allowed` or `denied`, and its uid
https.py serial CA PORT                 print SHA-256 of the served certificate
https.py kept CA PORT PID SIGNAL        review on a connection, send the signal,
                                        review on it again, then on a new one;
                                        per answer its verdict and its
                                        Connection header
https.py idle CA PORT                   open a connection, print a line, keep
                                        the connection open
"""
import hashlib
import http.client
import json
import os
import signal
import ssl
import sys
import time


def connect(ca, port):
    context = ssl.create_default_context(cafile=ca)
    return http.client.HTTPSConnection('localhost', int(port), timeout=30,
                                       context=context)


def pod(uid, requested):
    gpus = {'limits': {'nvidia.com/gpu': '1'},
            'requests': {'nvidia.com/gpu': requested}}
    return json.dumps({
        'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview',
        'request': {
            'uid': uid, 'operation': 'CREATE', 'namespace': 'ml',
            'name': 'train', 'userInfo': {'username': 'alice'},
            'kind': {'group': '', 'version': 'v1', 'kind': 'Pod'},
            'object': {
                'apiVersion': 'v1', 'kind': 'Pod',
                'metadata': {'name': 'train', 'namespace': 'ml'},
                'spec': {'containers': [{
                    'name': 'main', 'image': 'registry.example.com/a:1',
                    'resources': gpus}]}}}})


def review(connection, uid, requested):
    return post(connection, pod(uid, requested))


def post(connection, body):
    connection.request('POST', '/validate', body,
                       {'Content-Type': 'application/json'})
    reply = connection.getresponse()
    body = reply.read()
    if reply.status != 200:
        return 'status %d' % reply.status, reply
    response = json.loads(body)['response']
    return '%s %s' % ('allowed' if response['allowed'] else 'denied',
                      response['uid']), reply


def kept(ca, port, pid, name):
    def show(connection):
        verdict, reply = review(connection, 'u', '2')
        print(verdict, reply.getheader('Connection', 'kept').lower())
    old = connect(ca, port)
    show(old)
    os.kill(int(pid), getattr(signal, name))
    time.sleep(0.3)
    show(old)
    show(connect(ca, port))


def main(what, *args):
    if what == 'review':
        print(review(connect(*args[:2]), *args[2:])[0])
    elif what == 'post':
        with open(args[2], 'rb') as file:
            print(post(connect(*args[:2]), file.read())[0])
    elif what == 'serial':
        connection = connect(*args)
        connection.connect()
        print(hashlib.sha256(
            connection.sock.getpeercert(binary_form=True)).hexdigest())
    elif what == 'kept':
        kept(*args)
    else:
        connection = connect(*args)
        review(connection, 'u', '1')
        print('open', flush=True)
        time.sleep(30)


main(*sys.argv[1:])
