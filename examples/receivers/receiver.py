# A receiver for Parley webhooks. Run: WEBHOOK_SECRET='a secret of yours' PORT=3000 python3 examples/receivers/receiver.py
import base64
import hmac
import json
import os
import sys
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.fsencode(os.environ.get("WEBHOOK_SECRET", ""))
if not SECRET:
    sys.exit("WEBHOOK_SECRET is not set")

BODY_LIMIT = 1_048_576
TOLERANCE = 300
REMEMBERED = 10_000

# In production, store the ids in your database, in the same transaction as the work that each event causes.
seen = OrderedDict()
seen_lock = threading.Lock()


def is_new(event_id):
    with seen_lock:
        if event_id in seen:
            return False
        seen[event_id] = True
        if len(seen) > REMEMBERED:
            seen.popitem(last=False)
        return True


def is_authentic(event_id, timestamp, signatures, body):
    content = f"{event_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(SECRET, content, "sha256"))
    # During a rotation there is one signature per secret.
    if not any(hmac.compare_digest(expected, given.encode()) for given in signatures.split(" ")):
        return False
    return abs(time.time() - int(timestamp)) <= TOLERANCE


class Receiver(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.respond(411, "length required")
        if len(length) > 9 or int(length) > BODY_LIMIT:
            return self.respond(413, "too large")
        body = self.rfile.read(int(length))
        # Same value as X-Webhook-Id, but covered by the signature.
        event_id = self.headers.get("webhook-id", "")
        timestamp = self.headers.get("webhook-timestamp", "")
        signatures = self.headers.get("webhook-signature", "")
        if not is_authentic(event_id, timestamp, signatures, body):
            return self.respond(401, "bad signature")
        # Put slow work into a queue: Parley waits 15 seconds for the response.
        if is_new(event_id):
            event = json.loads(body)
            print(f"{event_id} {event['event']} {json.dumps(event['data'])}", flush=True)
        self.respond(200, "ok")

    def respond(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


class Server(ThreadingHTTPServer):
    # Parley may send 64 deliveries at once. The default backlog is 5.
    request_queue_size = 128


server = Server(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
