"""The client against servers that misbehave."""

import http.server
import io
import threading
import unittest

from rtc_service import Client, RtcError


LOST = None


class Script(http.server.BaseHTTPRequestHandler):
    """Responds with what the test has put into `responses`, one after the other; LOST closes the connection instead."""

    def respond(self):
        self.server.requests.append((self.command, self.path))
        self.server.keys.append(self.headers["Idempotency-Key"])
        if self.server.responses[0] is LOST:
            self.server.responses.pop(0)
            self.close_connection = True
            return
        status, headers, body = self.server.responses.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", headers.get("Content-Length", str(len(body))))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_DELETE = respond

    def log_message(self, *_arguments):
        pass


class Faults(unittest.TestCase):
    def setUp(self):
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Script)
        self.server.requests = []
        self.server.keys = []
        self.slept = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        url = f"http://127.0.0.1:{self.server.server_address[1]}/prefix/"
        self.client = Client(url, "key", "secret", sleep=self.slept.append)

    def respond_with(self, *responses):
        self.server.responses = list(responses)

    def test_repeats_a_get_that_was_limited(self):
        self.respond_with((429, {"Retry-After": "7"}, b""), (503, {}, b""), (200, {}, b'{"rooms": []}'))
        self.assertEqual(self.client.list_rooms(limit=5), {"rooms": []})
        self.assertEqual(self.server.requests, [("GET", "/prefix/v1/rooms?limit=5")] * 3)
        self.assertEqual(self.slept[0], 7.0)
        self.assertTrue(0.25 <= self.slept[1] <= 0.5)

    def test_repeats_a_post_under_the_same_key(self):
        busy = b'{"type": "urn:problem-type:rtc:server-busy", "detail": "Busy."}'
        self.respond_with((503, {"Retry-After": "1"}, busy), LOST, (201, {}, b'{"name": "demo"}'))
        self.assertEqual(self.client.create_room({"name": "demo"}), {"name": "demo"})
        self.assertEqual(self.slept[0], 1.0)
        self.assertRegex(self.server.keys[0], "^[0-9a-f-]{36}$")
        self.assertEqual(set(self.server.keys), {self.server.keys[0]})
        self.assertEqual(len(self.server.keys), 3)

    def test_repeats_a_post_whose_response_broke_off(self):
        self.respond_with((201, {"Content-Length": "99"}, b'{"na'), (201, {}, b'{"name": "demo"}'))
        self.assertEqual(self.client.create_room({"name": "demo"}), {"name": "demo"})

    def test_sends_another_key_for_another_call_and_the_chosen_one(self):
        self.respond_with((201, {}, b"{}"), (201, {}, b"{}"), (201, {}, b"{}"), (200, {}, b"{}"))
        for _ in range(2):
            self.client.create_room({"name": "demo"})
        self.client.create_room({"name": "demo"}, idempotency_key="order-1")
        self.client.get_room("demo")
        one, two, *rest = self.server.keys
        self.assertNotEqual(one, two)
        self.assertEqual(rest, ["order-1", None])

    def test_does_not_repeat_a_post_that_fails_for_long(self):
        missing = b'{"type": "urn:problem-type:rtc:media-unavailable", "detail": "No recorder."}'
        self.respond_with((503, {"Retry-After": "1"}, missing))
        with self.assertRaises(RtcError) as raised:
            self.client.start_recording("demo")
        self.assertEqual((raised.exception.code, str(raised.exception)), ("media-unavailable", "No recorder."))
        self.assertEqual(raised.exception.retry_after, 1.0)

    def test_gives_up_a_post_whose_connection_is_lost_three_times(self):
        self.respond_with(LOST, LOST, LOST)
        with self.assertRaises(RtcError) as raised:
            self.client.create_room({"name": "demo"})
        self.assertEqual(raised.exception.status, 0)
        self.assertEqual(len(self.server.requests), 3)

    def test_does_not_repeat_a_patch(self):
        self.respond_with((503, {}, b""))
        with self.assertRaises(RtcError):
            self.client.update_room("demo", {"metadata": ""})
        self.assertEqual(self.server.keys, [None])

    def test_does_not_wait_longer_than_ten_seconds(self):
        self.respond_with((429, {"Retry-After": "11"}, b"<html>"))
        with self.assertRaises(RtcError) as raised:
            self.client.list_rooms()
        self.assertEqual((raised.exception.status, raised.exception.code), (429, None))

    def test_gives_up_after_three_attempts(self):
        self.respond_with(*[(503, {}, b"")] * 3)
        with self.assertRaises(RtcError):
            self.client.delete_room("demo")
        self.assertEqual(len(self.server.requests), 3)

    def test_follows_no_redirect(self):
        self.respond_with((302, {"Location": "http://127.0.0.1:1/elsewhere"}, b""))
        with self.assertRaises(RtcError) as raised:
            self.client.list_rooms()
        self.assertEqual(raised.exception.status, 302)

    def test_tells_of_a_response_that_broke_off(self):
        self.respond_with((200, {"Content-Length": "10"}, b'{"ro'))
        with self.assertRaises(RtcError) as raised:
            self.client.list_rooms()
        self.assertIn("broke off", str(raised.exception))

    def test_tells_of_a_download_that_broke_off(self):
        self.respond_with((200, {"Content-Length": "10"}, b"MP4"))
        with self.assertRaises(RtcError):
            self.client.download_recording("rec_1", io.BytesIO())

    def test_refuses_an_address_that_is_none(self):
        for url in ("", "127.0.0.1:3000", "ftp://host", "http://host/?query"):
            with self.assertRaises(ValueError):
                Client(url, "key", "secret")

    def test_escapes_what_stands_in_a_path(self):
        self.respond_with((204, {}, b""))
        self.client.delete_ingress("a/b ?", "..")
        self.assertEqual(self.server.requests, [("DELETE", "/prefix/v1/rooms/a%2Fb%20%3F/ingress/..")])


if __name__ == "__main__":
    unittest.main()
