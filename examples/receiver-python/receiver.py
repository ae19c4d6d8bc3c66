"""Receives the events of a webhook with nothing but Python's standard library (3.9 or later).

RTC_WEBHOOK_SECRET is the webhook's secret. RTC_WEBHOOK_SCHEME=body verifies X-Service-Webhook-Signature instead of the
Standard Webhooks header. PORT (default 4000), HOST, and HANDLED_FILE, where the ids of handled events are kept.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# How far webhook-timestamp may be from this clock, in seconds.
TOLERANCE_SECONDS = 300
# Deliveries of the service are far smaller.
MAX_BODY_BYTES = 1024 * 1024
# A sender that stops in the middle of a request does not hold a thread for ever.
SOCKET_TIMEOUT_SECONDS = 15


def is_standard_signature_valid(body, headers, secret, now):
    """Standard Webhooks (https://www.standardwebhooks.com): the base64 HMAC-SHA256 of id.timestamp.body.

    The header holds several signatures, separated by spaces, while the secret is being rotated. The timestamp is
    signed: who has recorded a delivery cannot send it again later.
    """
    identifier = headers.get("webhook-id")
    timestamp = headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if identifier is None or timestamp is None or signatures is None:
        return False
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None or abs(int(now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{identifier}.{timestamp}.".encode("latin-1") + body
    mac = hmac.new(key_of(secret), signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(mac)
    return any(is_equal(signature, expected) for signature in signatures.split(" "))


def is_body_signature_valid(body, headers, secret):
    """X-Service-Webhook-Signature: the hex HMAC-SHA256 of the body, keyed with the secret as text.

    It signs no time, and after a rotation it is the new secret's at once: prefer the other one.
    """
    signature = headers.get("x-service-webhook-signature")
    if signature is None:
        return False
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return is_equal(signature, expected.encode())


def key_of(secret):
    """The bytes behind whsec_; a secret of another form is its own key."""
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret[len("whsec_") :], validate=True)
        except binascii.Error:
            key = b""
        if key:
            return key
    return secret.encode()


def is_equal(given, expected):
    """In constant time: how long it takes tells nothing of where two signatures differ."""
    return hmac.compare_digest(given.encode("latin-1"), expected)


class Once:
    """Deliveries come at least once: an answer that is lost on its way brings the event again, with the same id.

    The id is kept in the transaction in which the event is handled, so that neither is there without the other. A
    service of your own keeps it in the database in which it keeps the effect.
    """

    def __init__(self, file):
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, check_same_thread=False)
        with self._database:
            self._database.execute("CREATE TABLE IF NOT EXISTS handled (id TEXT PRIMARY KEY, at REAL NOT NULL)")

    def handle(self, event, act):
        with self._lock, self._database:
            row = (event["id"], time.time())
            if self._database.execute("INSERT OR IGNORE INTO handled VALUES (?, ?)", row).rowcount == 1:
                act(event)


def handle(event):
    """Your own work. What it raises is answered 500, so that the event comes again."""
    room = event["room"]["name"] if event["room"] else None
    print(json.dumps({"event": event["event"], "room": room, "id": event["id"]}), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SOCKET_TIMEOUT_SECONDS

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if re.fullmatch(r"[0-9]{1,12}", length) is None:
            return self.finish_with(411)
        if int(length) > MAX_BODY_BYTES:
            return self.finish_with(413)
        body = self.rfile.read(int(length))
        if not self.server.is_genuine(body, self.headers):
            return self.finish_with(401)
        try:
            self.server.once.handle(json.loads(body), handle)
        except Exception as error:  # noqa: BLE001 - whatever it is, the event must come again
            print(repr(error), file=sys.stderr, flush=True)
            return self.finish_with(500)
        return self.finish_with(204)

    def do_GET(self):
        self.finish_with(405)

    def finish_with(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        if status in (405, 411, 413):
            # Its body was not read.
            self.send_header("connection", "close")
            self.close_connection = True
        self.end_headers()

    def log_message(self, *_arguments):
        """Handled events are enough."""


def main():
    secret = os.environ.get("RTC_WEBHOOK_SECRET", "")
    scheme = os.environ.get("RTC_WEBHOOK_SCHEME", "standard")
    if secret == "":
        sys.exit("Set RTC_WEBHOOK_SECRET to the secret of the webhook.")
    if scheme not in ("standard", "body"):
        sys.exit("RTC_WEBHOOK_SCHEME is standard or body.")
    host = os.environ.get("HOST", "127.0.0.1")
    port = int(os.environ.get("PORT", "4000"))
    server = ThreadingHTTPServer((host, port), Receiver)
    # A file of its own for each receiver: what one has handled another has not.
    server.once = Once(os.environ.get("HANDLED_FILE", f"handled-{port}.sqlite"))
    # One scheme, chosen here: to accept either would let a sender choose the weaker one.
    if scheme == "body":
        server.is_genuine = lambda body, headers: is_body_signature_valid(body, headers, secret)
    else:
        server.is_genuine = lambda body, headers: is_standard_signature_valid(body, headers, secret, time.time())
    print(f"Listening on http://{host}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
