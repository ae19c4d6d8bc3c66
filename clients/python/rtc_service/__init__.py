"""Client of rtc-service: signed requests, typed responses, verified webhooks."""

from .client import Client, RtcError
from .signing import sign_request, signature_headers
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "Client",
    "RtcError",
    "WebhookVerificationError",
    "sign_request",
    "signature_headers",
    "verify_webhook",
]
