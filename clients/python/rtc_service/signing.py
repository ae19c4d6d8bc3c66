"""Signs requests to rtc-service. This file stands alone: copy it into a project that needs nothing else.

The signature is the hex HMAC-SHA256, keyed with the API secret, of four lines joined by LF: the method in upper case,
the path with its query exactly as sent, the timestamp header's value, and the hex SHA-256 of the raw body.
"""

from __future__ import annotations

import hashlib
import hmac

__all__ = ["sign_request", "signature_headers"]


def sign_request(api_secret: str, method: str, path: str, timestamp: str, body: bytes = b"") -> str:
    """The value of X-Service-Signature. `timestamp` is Unix time in seconds, as the header carries it."""
    body_hash = hashlib.sha256(body).hexdigest()
    canonical = f"{method.upper()}\n{path}\n{timestamp}\n{body_hash}"
    return hmac.new(api_secret.encode(), canonical.encode(), hashlib.sha256).hexdigest()


def signature_headers(
    api_key: str, api_secret: str, method: str, path: str, timestamp: int, body: bytes = b""
) -> dict[str, str]:
    """The three headers of a signed request. The service accepts a timestamp within 300 seconds of its own clock."""
    return {
        "X-Api-Key": api_key,
        "X-Service-Timestamp": str(timestamp),
        "X-Service-Signature": sign_request(api_secret, method, path, str(timestamp), body),
    }
