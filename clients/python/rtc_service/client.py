"""Calls rtc-service with signed requests and nothing but the standard library."""

from __future__ import annotations

import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import IO, Any, Callable, Iterator, Mapping, Optional

from .api import Event, Operations, Query
from .signing import signature_headers

__all__ = ["Client", "RtcError"]

# GET and DELETE may be repeated, and the service responds with these before it has done anything.
_REPEATABLE_METHODS = ("GET", "DELETE")
_REPEATABLE_STATUS = (429, 503)
# A POST is done once under its Idempotency-Key, and is repeated where that helps soon: a missing recorder stays missing.
_REPEATABLE_POSTS = (
    "rate-limited",
    "server-busy",
    "shutting-down",
    "storage-unavailable",
    "secret-unavailable",
    "idempotency-in-progress",
)
_MAX_ATTEMPTS = 3
# A server that asks for a longer pause gets its error passed on instead, in seconds.
_MAX_PAUSE = 10.0
_MAX_RESPONSE_BYTES = 64 * 1024 * 1024


class RtcError(Exception):
    """A request that failed.

    `status` is the HTTP status, 0 where no response came. `code` is the kind of the problem, such as
    `room-not-found`, and `problem` the whole problem (RFC 9457). `request_id` finds the request in the service's log.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        problem: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem: Mapping[str, Any] = {} if problem is None else problem
        self.code = str(self.problem.get("type", "")).rpartition(":")[2] or None
        self.request_id = request_id
        self.retry_after = retry_after


class _ConnectionLost(RtcError):
    """The connection ended while the request was under way, so that nobody knows what became of it."""


class Client(Operations):
    """The service as an object, one method for each endpoint.

        client = Client("http://127.0.0.1:3000", api_key, api_secret)
        token = client.create_token({"roomId": "demo", "userId": "ada", "name": "Ada", "role": "host"})

    It holds no connection and no state that changes: threads may share it. `timeout` is in seconds, for each attempt.

    A POST carries a random Idempotency-Key, under which the service does it once, and is sent again, three times at most,
    when the connection is lost and where a refusal soon passes. To go on after a restart of your own, choose the key:
    `client.create_webhook(body, idempotency_key=order_id)`.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        api_secret: str,
        *,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise ValueError("The url has to be the address of the service, such as http://127.0.0.1:3000")
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._prefix = parts.path.rstrip("/")
        self._api_key = api_key
        self._api_secret = api_secret
        self._timeout = timeout
        self._clock = clock
        self._sleep = sleep
        # A redirect would take the signed headers to another address.
        self._opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))

    def follow_events(self, *, cursor: str = "latest", room: Optional[str] = None) -> Iterator[Event]:
        """The events from a cursor on, as they come, without an end. By default those that are yet to come."""
        while True:
            page = self.list_events(cursor=cursor, room=room, wait=25)
            yield from page["events"]
            cursor = page["nextCursor"]

    def download_recording(self, recording_id: str, file: IO[bytes]) -> None:
        """Writes the MP4 of a recording to a file that is open for writing."""
        path = self._path("/v1/recordings/{}/download", recording_id)
        with self._open("GET", path, None) as response:
            for chunk in _chunks(response):
                file.write(chunk)

    def _call(
        self, method: str, path: str, query: Query, body: Optional[object], idempotency_key: Optional[str] = None
    ) -> Any:
        if method == "POST" and idempotency_key is None:
            idempotency_key = str(uuid.uuid4())
        text = self._send(method, _with_query(path, query), body, idempotency_key)
        try:
            return None if text == b"" else json.loads(text)
        except ValueError:
            raise RtcError(f"The response to {method} {path} is not JSON: {self._origin} is another service") from None

    def _text(self, path: str, query: Query) -> str:
        return self._send("GET", _with_query(path, query), None).decode()

    @staticmethod
    def _path(template: str, *values: str) -> str:
        return template.format(*(urllib.parse.quote(value, safe="") for value in values))

    def _send(self, method: str, path: str, body: Optional[object], idempotency_key: Optional[str] = None) -> bytes:
        attempt = 1
        while True:
            try:
                with self._open(method, path, body, idempotency_key) as response:
                    return _read(response)
            except RtcError as error:
                pause = _pause(error, attempt)
                if not _is_repeatable(method, error) or attempt == _MAX_ATTEMPTS or pause is None:
                    raise
                self._sleep(pause)
                attempt += 1

    def _open(
        self, method: str, path: str, body: Optional[object], idempotency_key: Optional[str] = None
    ) -> HTTPResponse:
        target = self._prefix + path
        data = None if body is None else json.dumps(body).encode()
        headers = signature_headers(self._api_key, self._api_secret, method, target, int(self._clock()), data or b"")
        if data is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        request = urllib.request.Request(self._origin + target, data=data, headers=headers, method=method)
        try:
            response: HTTPResponse = self._opener.open(request, timeout=self._timeout)
            return response
        except urllib.error.HTTPError as error:
            with error:
                raise _error_of(error) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            kind = _ConnectionLost if isinstance(reason, _LOST) else RtcError
            raise kind(f"{method} {path} of {self._origin} got no response: {reason}") from error


# RemoteDisconnected, of a server that ends without a response, is a ConnectionResetError too.
_LOST = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, IncompleteRead)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:
        return None


def _read(response: HTTPResponse) -> bytes:
    text = bytearray()
    for chunk in _chunks(response):
        text += chunk
        if len(text) > _MAX_RESPONSE_BYTES:
            raise RtcError("The response is larger than 64 MiB", status=response.status)
    return bytes(text)


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    try:
        while chunk := response.read(1024 * 1024):
            yield chunk
    except (OSError, HTTPException) as error:
        kind = _ConnectionLost if isinstance(error, _LOST) else RtcError
        raise kind(f"The response broke off: {error}", status=response.status) from error
    # Of a body that is too short, read() says nothing.
    if response.length:
        raise _ConnectionLost(f"The response broke off, {response.length} bytes before its end", status=response.status)


def _error_of(error: urllib.error.HTTPError) -> RtcError:
    problem: dict[str, Any] = {}
    try:
        read = json.loads(error.read(1024 * 1024))
        problem = read if isinstance(read, dict) else {}
    except (OSError, ValueError):
        pass
    retry_after = error.headers.get("Retry-After", "")
    return RtcError(
        str(problem.get("detail", f"The service responded with {error.code}")),
        status=error.code,
        problem=problem,
        request_id=error.headers.get("X-Request-Id"),
        retry_after=float(retry_after) if retry_after.isdecimal() else None,
    )


def _is_repeatable(method: str, error: RtcError) -> bool:
    if method == "POST":
        return isinstance(error, _ConnectionLost) or error.code in _REPEATABLE_POSTS
    return method in _REPEATABLE_METHODS and error.status in _REPEATABLE_STATUS


def _pause(error: RtcError, attempt: int) -> Optional[float]:
    """Seconds to wait before the request is sent again; None where the service asks for too long a pause."""
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= _MAX_PAUSE else None
    ceiling = 0.25 * 2.0 ** (attempt - 1)
    return ceiling / 2 + random.uniform(0, ceiling / 2)


def _with_query(path: str, query: Query) -> str:
    given = {name: _text_of(value) for name, value in query.items() if value is not None}
    return f"{path}?{urllib.parse.urlencode(given, quote_via=urllib.parse.quote)}" if given else path


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
