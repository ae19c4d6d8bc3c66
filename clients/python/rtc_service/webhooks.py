"""Verifies webhook deliveries of rtc-service. This file stands alone: copy it into a project that needs nothing else.

    event = verify_webhook(request.body, request.headers, secret)

The body has to be the bytes that arrived: a body that was parsed and written again has another signature.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Mapping, Optional

__all__ = ["WebhookVerificationError", "verify_webhook", "is_standard_signature_valid", "is_body_signature_valid"]

# Standard Webhooks (https://www.standardwebhooks.com): how far a timestamp may be from the clock, in seconds.
TOLERANCE_SECONDS = 300


class WebhookVerificationError(Exception):
    """The delivery is not genuine, or too old. Respond with 401 and do not act on it."""


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, now: Optional[float] = None
) -> dict[str, Any]:
    """Returns the event of a genuine delivery.

    `headers` may have names in any case. `now` is Unix time in seconds, the system's clock by default.
    Raises WebhookVerificationError for a delivery that was forged, changed or recorded and sent again later.
    """
    if not is_standard_signature_valid(body, headers, secret, time.time() if now is None else now):
        raise WebhookVerificationError(
            "The delivery has no valid signature. Check the secret of the webhook, that the body is verified as it "
            "arrived, and this machine's clock."
        )
    event = json.loads(body)
    if not isinstance(event, dict):
        raise WebhookVerificationError("The delivery is signed, but it is not an event.")
    return event


def is_standard_signature_valid(body: bytes, headers: Mapping[str, str], secret: str, now: float) -> bool:
    """Whether the Standard Webhooks headers belong to the body and their timestamp is within 300 seconds of `now`.

    The header holds several signatures, separated by spaces, while the secret is being rotated.
    """
    by_name = {name.lower(): value for name, value in headers.items()}
    identifier = by_name.get("webhook-id")
    timestamp = by_name.get("webhook-timestamp")
    signatures = by_name.get("webhook-signature")
    if identifier is None or timestamp is None or signatures is None:
        return False
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None or abs(int(now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()
    return any(_is_equal(signature, expected) for signature in signatures.split(" "))


def is_body_signature_valid(body: bytes, headers: Mapping[str, str], secret: str) -> bool:
    """Whether X-Service-Webhook-Signature is the body's own.

    It signs no time, and after a rotation it is the new secret's at once: prefer `verify_webhook`.
    """
    by_name = {name.lower(): value for name, value in headers.items()}
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return _is_equal(by_name.get("x-service-webhook-signature", ""), expected)


def _key(secret: str) -> bytes:
    """The bytes behind whsec_. The text of a secret of another form is its own key."""
    encoded = secret[len("whsec_") :] if secret.startswith("whsec_") else ""
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    return key if key and base64.b64encode(key).decode() == encoded else secret.encode()


def _is_equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())
