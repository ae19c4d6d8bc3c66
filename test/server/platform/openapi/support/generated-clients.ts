/* Programs that use generated clients as their users would: signed, they create, list and read. */

export const PYTHON_PROGRAM = `import hashlib, hmac, json, os, time
from rtc import Client
from rtc.api.recordings import get_recording, list_recordings
from rtc.api.rooms import create_room, get_room, list_rooms
from rtc.api.tokens import create_token
from rtc.api.webhooks import create_webhook, list_webhooks
from rtc.models import RoomCreate, TokenRequest, WebhookCreate
from rtc.models.token_request_role import TokenRequestRole

def sign(request):
    timestamp = str(int(time.time()))
    digest = hashlib.sha256(request.read()).hexdigest()
    text = "\\n".join([request.method, request.url.raw_path.decode(), timestamp, digest])
    signature = hmac.new(os.environ["API_SECRET"].encode(), text.encode(), hashlib.sha256).hexdigest()
    request.headers["X-Api-Key"] = os.environ["API_KEY"]
    request.headers["X-Service-Timestamp"] = timestamp
    request.headers["X-Service-Signature"] = signature

client = Client(base_url=os.environ["RTC_URL"], httpx_args={"event_hooks": {"request": [sign]}})
created = create_room.sync(client=client, body=RoomCreate(name="generated"))
webhook = create_webhook.sync(client=client, body=WebhookCreate(url="https://example.org/hooks/rtc"))
token = create_token.sync(client=client, body=TokenRequest(
    room_id="generated", user_id="ada", name="Ada", role=TokenRequestRole.HOST))
print(json.dumps({
    "created": created.name,
    "rooms": sorted(room.name for room in list_rooms.sync(client=client).rooms),
    "room": get_room.sync("generated", client=client).name,
    "recordings": [recording.room_id for recording in list_recordings.sync(client=client).recordings],
    "recording": get_recording.sync(os.environ["RECORDING"], client=client).status.value,
    "webhook": webhook.url,
    "webhooks": len(list_webhooks.sync(client=client).webhooks),
    "role": token.url[:3],
}))
`;

export const GO_PROGRAM = `package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"time"

	"example/rtc"
)

type signer struct{}

func (signer) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		body, _ = io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	timestamp := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(os.Getenv("API_SECRET")))
	fmt.Fprintf(mac, "%s\\n%s\\n%s\\n%x", request.Method, request.URL.RequestURI(), timestamp, sha256.Sum256(body))
	request.Header.Set("X-Api-Key", os.Getenv("API_KEY"))
	request.Header.Set("X-Service-Timestamp", timestamp)
	request.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil)))
	return http.DefaultTransport.RoundTrip(request)
}

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	configuration := rtc.NewConfiguration()
	configuration.Servers = rtc.ServerConfigurations{{URL: os.Getenv("RTC_URL")}}
	configuration.HTTPClient = &http.Client{Transport: signer{}}
	client := rtc.NewAPIClient(configuration)
	ctx := context.Background()
	created := must(client.RoomsAPI.CreateRoom(ctx).RoomCreate(*rtc.NewRoomCreate("generated")).Execute())
	webhook := must(client.WebhooksAPI.CreateWebhook(ctx).
		WebhookCreate(*rtc.NewWebhookCreate("https://example.org/hooks/rtc")).Execute())
	token := must(client.TokensAPI.CreateToken(ctx).
		TokenRequest(*rtc.NewTokenRequest("generated", "ada", "Ada", "host")).Execute())
	rooms := []string{}
	for _, room := range must(client.RoomsAPI.ListRooms(ctx).Execute()).Rooms {
		rooms = append(rooms, room.Name)
	}
	sort.Strings(rooms)
	recordings := []string{}
	for _, recording := range must(client.RecordingsAPI.ListRecordings(ctx).Execute()).Recordings {
		recordings = append(recordings, recording.RoomId)
	}
	seen, _ := json.Marshal(map[string]any{
		"created":    created.Name,
		"rooms":      rooms,
		"room":       must(client.RoomsAPI.GetRoom(ctx, "generated").Execute()).Name,
		"recordings": recordings,
		"recording":  must(client.RecordingsAPI.GetRecording(ctx, os.Getenv("RECORDING")).Execute()).Status,
		"webhook":    webhook.Url,
		"webhooks":   len(must(client.WebhooksAPI.ListWebhooks(ctx).Execute()).Webhooks),
		"role":       token.Url[:3],
	})
	fmt.Println(string(seen))
}
`;

export const TYPESCRIPT_PROGRAM = `import { createHash, createHmac } from 'node:crypto';
import type { components } from './rtc.d.ts';

type Schemas = components['schemas'];

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hash = createHash('sha256').update(text).digest('hex');
  const canonical = [method, path, timestamp, hash].join('\\n');
  const { RTC_URL = '', API_KEY = '', API_SECRET = '' } = process.env;
  const response = await fetch(RTC_URL + path, {
    method,
    ...(body === undefined ? {} : { body: text }),
    headers: {
      'Content-Type': 'application/json',
      'X-Api-Key': API_KEY,
      'X-Service-Timestamp': timestamp,
      'X-Service-Signature': createHmac('sha256', API_SECRET).update(canonical).digest('hex'),
    },
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

// The compiler tells events apart by their names.
export const identityOf = (event: Schemas['Event']): string | undefined =>
  event.event === 'participant_joined' ? event.participant.identity : undefined;

const room: Schemas['RoomCreate'] = { name: 'generated' };
const created = await call<Schemas['Room']>('POST', '/v1/rooms', room);
const hook: Schemas['WebhookCreate'] = { url: 'https://example.org/hooks/rtc' };
const webhook = await call<Schemas['Webhook']>('POST', '/v1/webhooks', hook);
const request: Schemas['TokenRequest'] = { roomId: 'generated', userId: 'ada', name: 'Ada', role: 'host' };
const token = await call<Schemas['Token']>('POST', '/v1/token', request);
const { rooms } = await call<Schemas['RoomList']>('GET', '/v1/rooms');
const { recordings } = await call<Schemas['RecordingList']>('GET', '/v1/recordings');
console.log(
  JSON.stringify({
    created: created.name,
    rooms: rooms.map(({ name }) => name).sort(),
    room: (await call<Schemas['Room']>('GET', '/v1/rooms/generated')).name,
    recordings: recordings.map(({ roomId }) => roomId),
    recording: (await call<Schemas['Recording']>('GET', \`/v1/recordings/\${process.env.RECORDING}\`)).status,
    webhook: webhook.url,
    webhooks: (await call<Schemas['WebhookList']>('GET', '/v1/webhooks')).webhooks.length,
    role: token.url.slice(0, 3),
  }),
);
`;
