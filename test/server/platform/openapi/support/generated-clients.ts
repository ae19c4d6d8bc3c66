/* Programs that use generated clients like a user: they sign, create, list and read. */

export const PYTHON_PROGRAM = `import hashlib, hmac, json, os, time
from rtc import Client
from rtc.api.events import list_events
from rtc.api.fiscal_codes import check_fiscal_code, decode_fiscal_code, generate_fiscal_code
from rtc.api.ingress import create_ingress, list_ingress
from rtc.api.participants import list_participants
from rtc.api.places import list_caps, list_cities, list_provinces, list_regions, search_places
from rtc.api.recordings import get_recording, list_recordings
from rtc.api.rooms import create_room, get_room, list_rooms
from rtc.api.tokens import create_token
from rtc.api.transcription import (
    create_transcription, get_transcription, get_transcription_by_id, list_transcriptions, start_transcription)
from rtc.api.webhooks import create_webhook, get_webhook, list_deliveries, list_webhooks, test_webhook
from rtc.models import (
    IngressCreate, Person, PersonGender, RoomCreate, TokenRequest, TokenRequestRole, TranscriptionQueue,
    TranscriptionStart, WebhookCreate, WebhookCreateEventsItem)

def sign(request):
    timestamp = str(int(time.time()))
    digest = hashlib.sha256(request.read()).hexdigest()
    text = "\\n".join([request.method, request.url.raw_path.decode(), timestamp, digest])
    signature = hmac.new(os.environ["API_SECRET"].encode(), text.encode(), hashlib.sha256).hexdigest()
    request.headers["X-Api-Key"] = os.environ["API_KEY"]
    request.headers["X-Service-Timestamp"] = timestamp
    request.headers["X-Service-Signature"] = signature

client = Client(base_url=os.environ["RTC_URL"], httpx_args={"event_hooks": {"request": [sign]}})
room, recording_id = "taped", os.environ["RECORDING"]
created = create_room.sync(client=client, body=RoomCreate(name="generated"))
webhook = create_webhook.sync(client=client, body=WebhookCreate(
    url=os.environ["RECEIVER"], events=[WebhookCreateEventsItem.ROOM_FINISHED]))
tested = test_webhook.sync(webhook.id, client=client)
token = create_token.sync(client=client, body=TokenRequest(
    room_id="generated", user_id="ada", name="Ada", role=TokenRequestRole.HOST))
ingress = create_ingress.sync(room, client=client, body=IngressCreate(participant_name="Camera 1"))
started = start_transcription.sync(room, client=client, body=TranscriptionStart(language="en"))
queued = create_transcription.sync(recording_id, client=client, body=TranscriptionQueue(language="en"))
events = list_events.sync(client=client, room=room, types="participant_joined,track_published").events
made = generate_fiscal_code.sync(client=client, body=Person(
    name="Mario", surname="Rossi", gender=PersonGender.M, day=1, month=2, year=1980, city="Roma"))
post = get_transcription_by_id.sync(queued.transcription_id, client=client)
print(json.dumps({
    "created": created.name,
    "rooms": sorted(room.name for room in list_rooms.sync(client=client).rooms),
    "room": get_room.sync("generated", client=client).name,
    "participants": [person.identity for person in list_participants.sync(room, client=client).participants],
    "events": [[event.event.value, event.participant.identity] for event in events[:2]],
    "recordings": [recording.room_id for recording in list_recordings.sync(client=client).recordings],
    "recording": get_recording.sync(recording_id, client=client).status.value,
    "ingress": ingress.participant_name,
    "ingresses": [each.ingress_id == ingress.ingress_id for each in list_ingress.sync(room, client=client).ingress],
    "live": get_transcription.sync(room, client=client).transcription_id == started.transcription_id,
    "transcriptions": [each.recording_id == recording_id for each in list_transcriptions.sync(client=client).transcriptions],
    "transcription": [post.recording_id == recording_id, post.status.value],
    "webhook": get_webhook.sync(webhook.id, client=client).url,
    "webhooks": len(list_webhooks.sync(client=client).webhooks),
    "delivered": tested.delivered,
    "deliveries": [[each.event, each.status.value, each.attempts[0].status_code]
        for each in list_deliveries.sync(webhook.id, client=client).deliveries],
    "token": token.url[:3],
    "code": made.cf,
    "valid": check_fiscal_code.sync(made.cf, client=client).valid,
    "decoded": decode_fiscal_code.sync(made.cf, client=client).birthplace,
    "regions": len(list_regions.sync(client=client)),
    "provinces": "RM" in [province.province for province in list_provinces.sync(client=client)],
    "cities": "ROMA" in [city.name for city in list_cities.sync("RM", client=client)],
    "caps": list_caps.sync("RM", "Tivoli", client=client),
    "found": search_places.sync(client=client, q="Tivoli")[0].name,
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
	room, recordingId := "taped", os.Getenv("RECORDING")
	created := must(client.RoomsAPI.CreateRoom(ctx).RoomCreate(*rtc.NewRoomCreate("generated")).Execute())
	hook := rtc.NewWebhookCreate(os.Getenv("RECEIVER"))
	hook.SetEvents([]string{"room_finished"})
	webhook := must(client.WebhooksAPI.CreateWebhook(ctx).WebhookCreate(*hook).Execute())
	tested := must(client.WebhooksAPI.TestWebhook(ctx, webhook.Id).Execute())
	token := must(client.TokensAPI.CreateToken(ctx).
		TokenRequest(*rtc.NewTokenRequest("generated", "ada", "Ada", "host")).Execute())
	camera := rtc.NewIngressCreate()
	camera.SetParticipantName("Camera 1")
	ingress := must(client.IngressAPI.CreateIngress(ctx, room).IngressCreate(*camera).Execute())
	start := rtc.NewTranscriptionStart()
	start.SetLanguage("en")
	started := must(client.TranscriptionAPI.StartTranscription(ctx, room).TranscriptionStart(*start).Execute())
	queue := rtc.NewTranscriptionQueue()
	queue.SetLanguage("en")
	queued := must(client.TranscriptionAPI.CreateTranscription(ctx, recordingId).TranscriptionQueue(*queue).Execute())
	post := must(client.TranscriptionAPI.GetTranscriptionById(ctx, queued.TranscriptionId).Execute()).PostTranscriptionDetail
	day, month, year := int32(1), int32(2), int32(1980)
	made := must(client.FiscalCodesAPI.GenerateFiscalCode(ctx).Person(*rtc.NewPerson("Mario", "Rossi", "M",
		rtc.PersonDay{Int32: &day}, rtc.PersonMonth{Int32: &month}, rtc.PersonYear{Int32: &year}, "Roma")).Execute())
	rooms := []string{}
	for _, room := range must(client.RoomsAPI.ListRooms(ctx).Execute()).Rooms {
		rooms = append(rooms, room.Name)
	}
	sort.Strings(rooms)
	recordings := []string{}
	for _, recording := range must(client.RecordingsAPI.ListRecordings(ctx).Execute()).Recordings {
		recordings = append(recordings, recording.RoomId)
	}
	participants := []string{}
	for _, participant := range must(client.ParticipantsAPI.ListParticipants(ctx, room).Execute()).Participants {
		participants = append(participants, participant.Identity)
	}
	list := must(client.EventsAPI.ListEvents(ctx).Room(room).Types("participant_joined,track_published").Execute()).Events
	joined, published := list[0].ParticipantJoinedEvent, list[1].TrackPublishedEvent
	ingresses := []bool{}
	for _, each := range must(client.IngressAPI.ListIngress(ctx, room).Execute()).Ingress {
		ingresses = append(ingresses, each.IngressId == ingress.IngressId)
	}
	transcriptions := []bool{}
	for _, each := range must(client.TranscriptionAPI.ListTranscriptions(ctx).Execute()).PostTranscriptionList.Transcriptions {
		transcriptions = append(transcriptions, each.RecordingId == recordingId)
	}
	deliveries := [][]any{}
	for _, each := range must(client.WebhooksAPI.ListDeliveries(ctx, webhook.Id).Execute()).Deliveries {
		deliveries = append(deliveries, []any{each.Event, each.Status, each.Attempts[0].StatusCode.Get()})
	}
	provinces := false
	for _, province := range must(client.PlacesAPI.ListProvinces(ctx).Execute()) {
		provinces = provinces || province.Province == "RM"
	}
	cities := false
	for _, city := range must(client.PlacesAPI.ListCities(ctx, "RM").Execute()) {
		cities = cities || city.Name == "ROMA"
	}
	seen, _ := json.Marshal(map[string]any{
		"created":        created.Name,
		"rooms":          rooms,
		"room":           must(client.RoomsAPI.GetRoom(ctx, "generated").Execute()).Name,
		"participants":   participants,
		"events":         [][]string{{joined.Event, joined.Participant.Identity}, {published.Event, published.Participant.Identity}},
		"recordings":     recordings,
		"recording":      must(client.RecordingsAPI.GetRecording(ctx, recordingId).Execute()).Status,
		"ingress":        ingress.ParticipantName,
		"ingresses":      ingresses,
		"live":           must(client.TranscriptionAPI.GetTranscription(ctx, room).Execute()).TranscriptionId == started.TranscriptionId,
		"transcriptions": transcriptions,
		"transcription":  []any{post.RecordingId == recordingId, post.Status},
		"webhook":        must(client.WebhooksAPI.GetWebhook(ctx, webhook.Id).Execute()).Url,
		"webhooks":       len(must(client.WebhooksAPI.ListWebhooks(ctx).Execute()).Webhooks),
		"delivered":      tested.Delivered,
		"deliveries":     deliveries,
		"token":          token.Url[:3],
		"code":           made.Cf,
		"valid":          must(client.FiscalCodesAPI.CheckFiscalCode(ctx, made.Cf).Execute()).Valid,
		"decoded":        must(client.FiscalCodesAPI.DecodeFiscalCode(ctx, made.Cf).Execute()).Birthplace,
		"regions":        len(must(client.PlacesAPI.ListRegions(ctx).Execute())),
		"provinces":      provinces,
		"cities":         cities,
		"caps":           must(client.PlacesAPI.ListCaps(ctx, "RM", "Tivoli").Execute()).ArrayOfInt32,
		"found":          must(client.PlacesAPI.SearchPlaces(ctx).Q("Tivoli").Execute())[0].Name,
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

const { RECORDING = '', RECEIVER = '' } = process.env;
const inRoom = '/v1/rooms/taped';
const room: Schemas['RoomCreate'] = { name: 'generated' };
const created = await call<Schemas['Room']>('POST', '/v1/rooms', room);
const hook: Schemas['WebhookCreate'] = { url: RECEIVER, events: ['room_finished'] };
const webhook = await call<Schemas['Webhook']>('POST', '/v1/webhooks', hook);
const tested = await call<Schemas['WebhookTest']>('POST', \`/v1/webhooks/\${webhook.id}/test\`);
const request: Schemas['TokenRequest'] = { roomId: 'generated', userId: 'ada', name: 'Ada', role: 'host' };
const token = await call<Schemas['Token']>('POST', '/v1/token', request);
const camera: Schemas['IngressCreate'] = { participantName: 'Camera 1' };
const ingress = await call<Schemas['Ingress']>('POST', \`\${inRoom}/ingress\`, camera);
const start: Schemas['TranscriptionStart'] = { language: 'en' };
const started = await call<Schemas['TranscriptionStarted']>('POST', \`\${inRoom}/transcription/start\`, start);
const queue: Schemas['TranscriptionQueue'] = { language: 'en' };
const queued = await call<Schemas['TranscriptionQueued']>('POST', \`/v1/recordings/\${RECORDING}/transcribe\`, queue);
const mario: Schemas['Person'] = { name: 'Mario', surname: 'Rossi', gender: 'M', day: 1, month: 2, year: 1980, city: 'Roma' };
const made = await call<Schemas['GeneratedCode']>('POST', '/cf', mario);
const { rooms } = await call<Schemas['RoomList']>('GET', '/v1/rooms');
const { participants } = await call<Schemas['ParticipantList']>('GET', \`\${inRoom}/participants\`);
const { events } = await call<Schemas['EventList']>('GET', '/v1/events?roomId=taped&types=participant_joined%2Ctrack_published');
const { recordings } = await call<Schemas['RecordingList']>('GET', '/v1/recordings');
const { ingress: ingresses } = await call<Schemas['IngressList']>('GET', \`\${inRoom}/ingress\`);
const live = await call<Schemas['LiveTranscription']>('GET', \`\${inRoom}/transcription\`);
const { transcriptions } = await call<Schemas['PostTranscriptionList']>('GET', '/v1/transcriptions');
const post = await call<Schemas['PostTranscriptionDetail']>('GET', \`/v1/transcriptions/\${queued.transcriptionId}\`);
const { deliveries } = await call<Schemas['DeliveryList']>('GET', \`/v1/webhooks/\${webhook.id}/deliveries\`);
const regions = await call<readonly Schemas['Region'][]>('GET', '/it/regions');
const provinces = await call<readonly Schemas['PlacePeriod'][]>('GET', '/it/provinces');
const cities = await call<readonly Schemas['PlacePeriod'][]>('GET', '/it/cities/RM');
const [found] = await call<readonly Schemas['FoundPlace'][]>('GET', '/it/places?q=Tivoli');
console.log(
  JSON.stringify({
    created: created.name,
    rooms: rooms.map(({ name }) => name).sort(),
    room: (await call<Schemas['Room']>('GET', '/v1/rooms/generated')).name,
    participants: participants.map(({ identity }) => identity),
    events: events.flatMap((event) =>
      event.event === 'participant_joined' || event.event === 'track_published'
        ? [[event.event, event.participant.identity]]
        : [],
    ),
    recordings: recordings.map(({ roomId }) => roomId),
    recording: (await call<Schemas['Recording']>('GET', \`/v1/recordings/\${RECORDING}\`)).status,
    ingress: ingress.participantName,
    ingresses: ingresses.map(({ ingressId }) => ingressId === ingress.ingressId),
    live: live.transcriptionId === started.transcriptionId,
    transcriptions: transcriptions.map(({ recordingId }) => recordingId === RECORDING),
    transcription: [post.recordingId === RECORDING, post.status],
    webhook: (await call<Schemas['Webhook']>('GET', \`/v1/webhooks/\${webhook.id}\`)).url,
    webhooks: (await call<Schemas['WebhookList']>('GET', '/v1/webhooks')).webhooks.length,
    delivered: tested.delivered,
    deliveries: deliveries.map(({ event, status, attempts }) => [event, status, attempts[0]?.statusCode]),
    token: token.url.slice(0, 3),
    code: made.cf,
    valid: (await call<Schemas['Validity']>('GET', \`/cf/check/\${made.cf}\`)).valid,
    decoded: (await call<Schemas['DecodedCode']>('GET', \`/cf/\${made.cf}\`)).birthplace,
    regions: regions.length,
    provinces: provinces.some(({ province }) => province === 'RM'),
    cities: cities.some(({ name }) => name === 'ROMA'),
    caps: await call<readonly number[]>('GET', '/it/caps/RM/Tivoli'),
    found: found?.name,
  }),
);
`;
