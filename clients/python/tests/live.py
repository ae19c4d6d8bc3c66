"""Calls a service that runs, whose address and keys are in RTC_URL, RTC_API_KEY and RTC_API_SECRET."""

import http.client
import http.server
import os
import threading
import unittest
import urllib.parse
import uuid

from rtc_service import Client, RtcError

URL, KEY, SECRET = os.environ["RTC_URL"], os.environ["RTC_API_KEY"], os.environ["RTC_API_SECRET"]


class Forgetful(http.server.BaseHTTPRequestHandler):
    """Passes requests on to the service, and loses the first of its responses."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        service = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc)
        service.request("POST", self.path, body, dict(self.headers))
        response = service.getresponse()
        text = response.read()
        service.close()
        self.server.replayed.append(response.getheader("Idempotent-Replayed"))
        if len(self.server.replayed) == 1:
            self.close_connection = True
            return
        self.send_response(response.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_arguments):
        pass


class Live(unittest.TestCase):
    def setUp(self):
        self.client = Client(URL, KEY, SECRET)

    def test_rooms(self):
        names = {f"python caffè/{number}" for number in range(3)}
        for name in names:
            self.client.create_room({"name": name, "metadata": "☕"})
        self.assertLessEqual(names, {room["name"] for room in self.client.iterate_rooms(limit=2)})
        self.assertEqual(self.client.get_room("python caffè/1")["metadata"], "☕")
        self.assertEqual(self.client.list_participants("python caffè/1"), {"participants": []})
        for name in names:
            self.assertIsNone(self.client.delete_room(name))

    def test_problems(self):
        with self.assertRaises(RtcError) as raised:
            self.client.get_room("nowhere")
        error = raised.exception
        self.assertEqual((error.status, error.code), (404, "room-not-found"))
        self.assertTrue(error.request_id)
        with self.assertRaises(RtcError) as raised:
            Client(URL, KEY, "wrong").list_rooms()
        self.assertEqual(raised.exception.code, "invalid-signature")

    def test_tokens(self):
        token = self.client.create_token({"roomId": "python", "userId": "ada", "name": "Ada", "role": "host"})
        self.assertEqual(token["token"].count("."), 2)

    def test_webhooks_and_events(self):
        webhook = self.client.create_webhook({"url": "https://example.org/hook", "events": ["room_created"]})
        self.assertTrue(webhook["secret"].startswith("whsec_"))
        self.assertIn(webhook["id"], [each["id"] for each in self.client.list_webhooks()["webhooks"]])
        self.assertEqual(list(self.client.iterate_deliveries(webhook["id"])), [])
        self.client.delete_webhook(webhook["id"])
        self.assertIn("nextCursor", self.client.list_events(cursor="latest"))

    def test_a_key_does_a_post_once(self):
        key, body = str(uuid.uuid4()), {"url": "https://example.org/once", "events": ["room_created"]}
        first = self.client.create_webhook(body, idempotency_key=key)
        self.assertEqual(self.client.create_webhook(body, idempotency_key=key), first)
        with self.assertRaises(RtcError) as raised:
            self.client.create_webhook({**body, "events": ["*"]}, idempotency_key=key)
        self.assertEqual((raised.exception.status, raised.exception.code), (422, "idempotency-key-reused"))
        self.client.delete_webhook(first["id"])

    def test_a_lost_response_does_a_post_once(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), Forgetful)
        server.replayed = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = "https://example.org/" + str(uuid.uuid4())
        client = Client(f"http://127.0.0.1:{server.server_address[1]}", KEY, SECRET)
        webhook = client.create_webhook({"url": url, "events": ["room_created"]})
        self.assertEqual(server.replayed, [None, "true"])
        listed = [each["id"] for each in self.client.list_webhooks()["webhooks"] if each["url"] == url]
        self.assertEqual(listed, [webhook["id"]])
        self.client.delete_webhook(webhook["id"])

    def test_fiscal_codes(self):
        person = {"name": "Mario", "surname": "Rossi", "gender": "M", "day": 1, "month": 1, "year": 1980, "city": "Roma"}
        code = self.client.generate_fiscal_code(person)["cf"]
        self.assertEqual(code, "RSSMRA80A01H501U")
        decoded = self.client.decode_fiscal_code(code, details=True)
        self.assertEqual((decoded["birthplace"], decoded["details"]["omocodiaLevel"]), ("ROMA", 0))
        self.assertTrue(self.client.check_fiscal_code(code, strict=True)["valid"])


if __name__ == "__main__":
    unittest.main()
