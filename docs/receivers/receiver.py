# Receives webhooks of Parley: WEBHOOK_SECRET='a secret of yours' PORT=3000 python3 docs/receivers/receiver.py
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

# Keep the ids in your database instead, and write each in one transaction with the work that it stands for.
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
    # While a secret is being changed there is a signature for each.
    if not any(hmac.compare_digest(expected, given.encode()) for given in signatures.split(" ")):
        return False
    return abs(time.time() - int(timestamp)) <= TOLERANCE


class Receiver(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.answer(411, "length required")
        if len(length) > 9 or int(length) > BODY_LIMIT:
            return self.answer(413, "too large")
        body = self.rfile.read(int(length))
        # The same as X-Webhook-Id, but covered by the signature.
        event_id = self.headers.get("webhook-id", "")
        timestamp = self.headers.get("webhook-timestamp", "")
        signatures = self.headers.get("webhook-signature", "")
        if not is_authentic(event_id, timestamp, signatures, body):
            return self.answer(401, "bad signature")
        # Real work belongs in a queue: the answer has to be there within 15 seconds.
        if is_new(event_id):
            event = json.loads(body)
            print(f"{event_id} {event['event']} {json.dumps(event['data'])}", flush=True)
        self.answer(200, "ok")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


class Server(ThreadingHTTPServer):
    # Parley may send 64 deliveries at once; the default lets 5 wait.
    request_queue_size = 128


server = Server(("", int(os.environ.get("PORT", "3000"))), Receiver)
print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
