"""Calls a service that runs, whose address and keys are in RTC_URL, RTC_API_KEY and RTC_API_SECRET."""

import os
import unittest

from rtc_service import Client, RtcError

URL, KEY, SECRET = os.environ["RTC_URL"], os.environ["RTC_API_KEY"], os.environ["RTC_API_SECRET"]


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

    def test_fiscal_codes(self):
        person = {"name": "Mario", "surname": "Rossi", "gender": "M", "day": 1, "month": 1, "year": 1980, "city": "Roma"}
        code = self.client.generate_fiscal_code(person)["cf"]
        self.assertEqual(code, "RSSMRA80A01H501U")
        decoded = self.client.decode_fiscal_code(code, details=True)
        self.assertEqual((decoded["birthplace"], decoded["details"]["omocodiaLevel"]), ("ROMA", 0))
        self.assertTrue(self.client.check_fiscal_code(code, strict=True)["valid"])


if __name__ == "__main__":
    unittest.main()
