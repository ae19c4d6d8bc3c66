"""The vectors that the server's own tests read, against signing.py and webhooks.py."""

import json
import pathlib
import unittest

from rtc_service.signing import sign_request, signature_headers
from rtc_service.webhooks import (
    WebhookVerificationError,
    is_body_signature_valid,
    is_standard_signature_valid,
    verify_webhook,
)

FILE = pathlib.Path(__file__).parents[3] / "data" / "vectors" / "signing.json"
VECTORS = json.loads(FILE.read_text("utf-8"))


class Requests(unittest.TestCase):
    def test_signatures_of_requests(self):
        for vector in VECTORS["requests"]:
            with self.subTest(vector["title"]):
                signature = sign_request(
                    vector["apiSecret"], vector["method"], vector["path"], vector["timestamp"], vector["body"].encode()
                )
                self.assertEqual(signature, vector["signature"])

    def test_headers_of_a_request(self):
        vector = VECTORS["requests"][0]
        headers = signature_headers("key", vector["apiSecret"], "GET", vector["path"], int(vector["timestamp"]))
        self.assertEqual(
            headers,
            {
                "X-Api-Key": "key",
                "X-Service-Timestamp": vector["timestamp"],
                "X-Service-Signature": vector["signature"],
            },
        )


class Webhooks(unittest.TestCase):
    def test_signatures_of_deliveries(self):
        for vector in VECTORS["webhooks"]:
            body, headers, secret, now = vector["body"].encode(), vector["headers"], vector["secret"], vector["now"]
            with self.subTest(vector["title"]):
                self.assertEqual(is_standard_signature_valid(body, headers, secret, now), vector["standard"])
                self.assertEqual(is_body_signature_valid(body, headers, secret), vector["specified"])
                if vector["standard"]:
                    self.assertEqual(verify_webhook(body, headers, secret, now), json.loads(body))
                else:
                    with self.assertRaises(WebhookVerificationError):
                        verify_webhook(body, headers, secret, now)

    def test_names_of_headers_in_any_case(self):
        vector = VECTORS["webhooks"][0]
        headers = {name.title(): value for name, value in vector["headers"].items()}
        event = verify_webhook(vector["body"].encode(), headers, vector["secret"], vector["now"])
        self.assertEqual(event["event"], "room_finished")


if __name__ == "__main__":
    unittest.main()
