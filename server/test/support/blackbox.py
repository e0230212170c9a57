"""A receiver of webhooks that knows Parley only by its documents: it shares no code with it.

It reads HTTP and verifies both signatures by itself, keeps every request exactly as it came, and misbehaves as it is
told. Commands are lines of JSON on stdin, each answered by a line on stdout; it ends when stdin does.
"""

import base64
import gzip
import hmac
import itertools
import json
import os
import random
import re
import socket
import ssl
import struct
import sys
import threading
import time
from email.utils import formatdate

TOLERANCE = 300
HEAD_LIMIT = 65_536
BODY_LIMIT = 1_048_576
# What has no end is given one here if the sender does not: far beyond what a sender may put up with.
PATIENCE = 30
MOST_CHUNKS = 16_384

REQUEST_LINE = re.compile(rb"POST (/[!-~]*) HTTP/1\.1")
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([!-~](?:[ -~]*[!-~])?)")


class Bad(Exception):
    """What came is not a request as it should be."""


class Clock:
    """It stands still: whoever gives the commands moves it."""

    now = time.time()


class Steps:
    """Numbers whatever happens, so that it can be told what came first."""

    _next = itertools.count(1)

    @classmethod
    def step(cls):
        return next(cls._next)


class Connection:
    def __init__(self, sock, number):
        self.sock = sock
        self.number = number
        self._rest = b""

    def take(self, find_end):
        """What comes until the end that is looked for; the rest is kept. None where the other side has ended instead."""
        while (end := find_end(self._rest)) is None:
            more = self.sock.recv(65_536)
            if not more:
                if self._rest:
                    raise Bad("it ended in the middle")
                return None
            self._rest += more
        taken, self._rest = self._rest[:end], self._rest[end:]
        return taken

    def reset(self):
        """The other side sees a connection that breaks off, not one that ends."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


# Reading


def end_of_head(data):
    if data and not data[:1].isupper():
        raise Bad("it is not HTTP")
    if len(data) > HEAD_LIMIT:
        raise Bad("the head is too long")
    at = data.find(b"\r\n\r\n")
    return None if at < 0 else at + 4


def read_headers(lines):
    headers = {}
    for line in lines:
        header = HEADER.fullmatch(line)
        if not header:
            raise Bad("a header of another form")
        name = header[1].decode().lower()
        if name in headers:
            raise Bad(f"{name} twice")
        headers[name] = header[2].decode()
    return headers


def read_request(connection):
    """The path, the raw head, the headers and the raw body of the next request; None where there is none."""
    head = connection.take(end_of_head)
    if head is None:
        return None
    first, *lines = head[:-4].split(b"\r\n")
    line = REQUEST_LINE.fullmatch(first)
    if not line:
        raise Bad("a request line of another form")
    headers = read_headers(lines)
    length = headers.get("content-length", "")
    if not re.fullmatch("[0-9]{1,7}", length) or int(length) > BODY_LIMIT or "transfer-encoding" in headers:
        raise Bad("no plain length")
    body = connection.take(lambda data: int(length) if len(data) >= int(length) else None)
    if body is None:
        raise Bad("it ended before the body")
    return line[1].decode(), head, headers, body


# Verifying


def verify(secrets, headers, body):
    """Which of the secrets made which signature, and whether the time that is signed is near."""

    def makers(content, write, given):
        digests = (hmac.digest(secret.encode(), content, "sha256") for secret in secrets)
        return [at for at, made in enumerate(digests) if hmac.compare_digest(write(made), given)]

    sent_at = headers.get("webhook-timestamp", "")
    content = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    entries = headers.get("webhook-signature", "").split(" ")
    return {
        "body": makers(body, lambda made: f"sha256={made.hex()}", headers.get("x-webhook-signature", "")),
        "content": [makers(content, lambda made: f"v1,{base64.b64encode(made).decode()}", one) for one in entries],
        "fresh": bool(re.fullmatch("[0-9]{1,12}", sent_at)) and abs(Clock.now - int(sent_at)) <= TOLERANCE,
    }


# Answering. Each habit gets the connection and what it was told, and yields what is to be sent. The next request is
# read afterwards, unless the habit has closed the connection.


def head_of(told, **more):
    headers = {**told.get("headers", {}), **{name.replace("_", "-"): value for name, value in more.items()}}
    if "retry_in" in told:
        headers["Retry-After"] = formatdate(Clock.now + told["retry_in"], usegmt=True)
    lines = [f"HTTP/1.1 {told.get('status', 200)} As Told", *(f"{name}: {value}" for name, value in headers.items())]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


def answer(_, told):
    time.sleep(random.random() * told.get("within_ms", 0) / 1_000)
    body = told.get("body", "ok").encode()
    yield head_of(told, Content_Length=len(body)) + body


def zipped(_, told):
    body = gzip.compress(told["body"].encode(), mtime=0)
    yield head_of(told, Content_Encoding="gzip", Content_Length=len(body)) + body


def interim(connection, told):
    yield head_of({"status": 103}, Link="</style.css>; rel=preload")
    yield from answer(connection, told)


def last_answer(connection, told):
    """Whole, and the last one on its connection: said to be, or not."""
    yield from answer(connection, told)
    connection.sock.close()


def old_answer(connection, _):
    """Without a length: it ends with its connection."""
    yield b"HTTP/1.0 200 OK\r\n\r\nok"
    connection.sock.close()


def drip_head(_, told):
    for byte in head_of(told, Content_Length=2) + b"ok":
        yield bytes([byte])
        time.sleep(0.001)


def drip(_, told):
    yield head_of(told, Content_Length=told["length"])
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield b"a"
        time.sleep(0.02)


def endless(_, told):
    yield head_of(told, Transfer_Encoding="chunked")
    yield from itertools.repeat(b"10000\r\n" + b"a" * 65_536 + b"\r\n", MOST_CHUNKS)


def half(told):
    """A status and the start of a body where there is to be one, otherwise nothing."""
    return head_of(told, Content_Length=100) + b"half" if "status" in told else b""


def reset(connection, told):
    yield half(told)
    connection.reset()


def close(connection, told):
    yield half(told)
    connection.sock.close()


def garbage(connection, _):
    yield b"220 mail.example.com ready\r\n250 go ahead\r\n\r\n"
    connection.sock.close()


HABITS = {
    "answer": answer,
    "zipped": zipped,
    "interim": interim,
    "last answer": last_answer,
    "old answer": old_answer,
    "drip head": drip_head,
    "drip": drip,
    "endless": endless,
    "reset": reset,
    "close": close,
    "garbage": garbage,
}


class Endpoint:
    """A path: what it knows, how it answers one request after the other (the last way stays), and all that came to it."""

    def __init__(self, secrets=(), needs=("body", "content"), answers=({},)):
        self.requests = []
        self._secrets = secrets
        self._needs = needs
        self._answers = answers
        self._turns = 0
        self._lock = threading.Lock()

    def take(self, connection, head, headers, body):
        """Writes a request down, and answers it."""
        with self._lock:
            signed = verify(self._secrets, headers, body)
            passed = {"body": bool(signed["body"]), "content": any(signed["content"]) and signed["fresh"]}
            accepted = all(passed[need] for need in self._needs)
            told = {"status": 401, "body": "bad signature"}
            if accepted:
                told = self._answers[min(self._turns, len(self._answers) - 1)]
                self._turns += 1
            request = {
                "arrived": Steps.step(),
                "socket": connection.number,
                "head": head.decode("latin-1"),
                "body": base64.b64encode(body).decode(),
                "signed": signed,
                "accepted": accepted,
                "answered": None,
                "sent": 0,
                "cut_off": False,
            }
            self.requests.append(request)
        try:
            for data in HABITS[told.get("habit", "answer")](connection, told):
                request["answered"] = request["answered"] or Steps.step()
                connection.sock.sendall(data)
                request["sent"] += len(data)
        except OSError:
            request["cut_off"] = True
            raise


endpoints = {}


class Listener:
    """A port on loopback; it counts the connections, and what came over them that was no good request."""

    def __init__(self, certificate=None, key=None):
        self._server = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._server.getsockname()[1]
        self.sockets = 0
        self.bad = []
        self._tls = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate, key)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            sock, _ = self._server.accept()
            self.sockets += 1
            threading.Thread(target=self._serve, args=(sock, self.sockets), daemon=True).start()

    def _serve(self, sock, number):
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._tls.wrap_socket(sock, server_side=True) if self._tls else sock as plain:
                self._talk(Connection(plain, number))
        except OSError:
            pass

    def _talk(self, connection):
        try:
            while connection.sock.fileno() >= 0 and (request := read_request(connection)):
                path, *rest = request
                endpoints.setdefault(path, Endpoint()).take(connection, *rest)
        except Bad as bad:
            self.bad.append(str(bad))
            connection.sock.sendall(head_of({"status": 400}, Content_Length=0))


# Commands


def do_listen(certificate=None, key=None):
    listener = Listener(certificate, key)
    listeners[listener.port] = listener
    return {"port": listener.port}


def do_endpoint(path, **told):
    endpoints[path] = Endpoint(**told)
    return {}


def do_requests(path):
    return {"requests": list(endpoints[path].requests)}


def do_connections(port):
    return {"sockets": listeners[port].sockets, "bad": listeners[port].bad}


def do_clock(now):
    Clock.now = now
    return {}


listeners = {}
COMMANDS = {
    "listen": do_listen,
    "endpoint": do_endpoint,
    "requests": do_requests,
    "connections": do_connections,
    "clock": do_clock,
}

for line in sys.stdin:
    command = json.loads(line)
    print(json.dumps(COMMANDS[command.pop("do")](**command)), flush=True)
os._exit(0)
