"""Signs what Schemathesis sends, from the documentation: https://schemathesis.readthedocs.io/en/stable/guides/auth/"""

import hashlib
import hmac
import os
import time

import requests
import schemathesis


class Signed(requests.auth.AuthBase):
    def __call__(self, request):
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        timestamp = str(int(time.time()))
        digest = hashlib.sha256(body).hexdigest()
        text = "\n".join([request.method, request.path_url, timestamp, digest])
        secret = os.environ["PROVE_API_SECRET"].encode()
        request.headers["X-Api-Key"] = os.environ["PROVE_API_KEY"]
        request.headers["X-Service-Timestamp"] = timestamp
        request.headers["X-Service-Signature"] = hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
        return request


schemathesis.auth.set_from_requests(Signed())
