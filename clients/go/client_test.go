package rtc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// script responds with one function after the other.
func script(t *testing.T, responses ...http.HandlerFunc) (*Client, *[]string) {
	t.Helper()
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.RequestURI())
		if len(requests) > len(responses) {
			t.Errorf("unexpected %s", requests[len(requests)-1])
			return
		}
		responses[len(requests)-1](w, r)
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL+"/prefix/", "key", "secret")
	if err != nil {
		t.Fatal(err)
	}
	return client, &requests
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestRepeatsAGetThatWasRefusedBeforeItDidAnything(t *testing.T) {
	client, requests := script(t, status(429, ""), status(503, ""), status(200, `{"rooms":[{"name":"demo"}]}`))
	list, err := client.ListRooms(context.Background(), ListRoomsParams{Limit: 5})
	if err != nil || len(list.Rooms) != 1 || len(*requests) != 3 || (*requests)[0] != "GET /prefix/v1/rooms?limit=5" {
		t.Errorf("%v, %v, %v", list, err, *requests)
	}
}

// keep remembers the Idempotency-Key of a request and goes on.
func keep(keys *[]string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*keys = append(*keys, r.Header.Get("Idempotency-Key"))
		next(w, r)
	}
}

// lost closes the connection instead of a response.
func lost(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const busy = `{"type":"urn:problem-type:rtc:server-busy","detail":"Busy."}`

func TestRepeatsAPostUnderTheSameKey(t *testing.T) {
	var keys []string
	client, _ := script(t, keep(&keys, status(503, busy)), keep(&keys, lost), keep(&keys, status(201, `{"name":"demo"}`)))
	room, err := client.CreateRoom(context.Background(), RoomCreate{Name: "demo"})
	if err != nil || room.Name != "demo" || len(keys) != 3 {
		t.Fatalf("%v, %v, %v", room, err, keys)
	}
	if len(keys[0]) != 32 || keys[1] != keys[0] || keys[2] != keys[0] {
		t.Error(keys)
	}
}

func TestRepeatsAPostWhoseResponseBrokeOff(t *testing.T) {
	brokenOff := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "99")
		_, _ = io.WriteString(w, `{"na`)
	}
	client, _ := script(t, brokenOff, status(201, `{"name":"demo"}`))
	room, err := client.CreateRoom(context.Background(), RoomCreate{Name: "demo"})
	if err != nil || room.Name != "demo" {
		t.Errorf("%v, %v", room, err)
	}
}

func TestSendsAnotherKeyForAnotherCallAndTheChosenOne(t *testing.T) {
	var keys []string
	done := keep(&keys, status(200, "{}"))
	client, _ := script(t, done, done, done, done)
	ctx := context.Background()
	for _, each := range []context.Context{ctx, ctx, WithIdempotencyKey(ctx, "order-1")} {
		if _, err := client.CreateRoom(each, RoomCreate{Name: "demo"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.GetRoom(WithIdempotencyKey(ctx, "order-1"), "demo"); err != nil {
		t.Fatal(err)
	}
	if keys[0] == keys[1] || keys[2] != "order-1" || keys[3] != "" {
		t.Error(keys)
	}
}

func TestDoesNotRepeatAPostThatFailsForLong(t *testing.T) {
	client, requests := script(t, status(503, `{"type":"urn:problem-type:rtc:media-unavailable","detail":"No recorder."}`))
	_, err := client.StartRecording(context.Background(), "demo", nil)
	if !IsCode(err, "media-unavailable") || err.Error() != "rtc: No recorder. (503 media-unavailable)" || len(*requests) != 1 {
		t.Errorf("%v, %v", err, *requests)
	}
}

func TestGivesUpAPostWhoseConnectionIsLostThreeTimes(t *testing.T) {
	client, requests := script(t, lost, lost, lost)
	if _, err := client.CreateRoom(context.Background(), RoomCreate{Name: "demo"}); err == nil || len(*requests) != 3 {
		t.Errorf("%v, %v", err, *requests)
	}
}

func TestDoesNotRepeatAPatch(t *testing.T) {
	var keys []string
	client, _ := script(t, keep(&keys, status(503, "")))
	if _, err := client.UpdateRoom(context.Background(), "demo", nil); err == nil || len(keys) != 1 || keys[0] != "" {
		t.Errorf("%v, %v", err, keys)
	}
}

func TestDoesNotWaitLongerThanTenSeconds(t *testing.T) {
	client, _ := script(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "11")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := client.GetRoom(context.Background(), "demo")
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Status != http.StatusTooManyRequests {
		t.Error(err)
	}
}

func TestFollowsNoRedirect(t *testing.T) {
	client, _ := script(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
	})
	_, err := client.GetRoom(context.Background(), "demo")
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Status != http.StatusFound {
		t.Error(err)
	}
}

func TestEscapesWhatStandsInAPath(t *testing.T) {
	client, requests := script(t, status(204, ""))
	if err := client.DeleteRoom(context.Background(), "a/b ?", DeleteRoomParams{}); err != nil {
		t.Error(err)
	}
	if (*requests)[0] != "DELETE /prefix/v1/rooms/a%2Fb%20%3F" {
		t.Error(*requests)
	}
}

func TestReadsEveryPage(t *testing.T) {
	client, requests := script(t, status(200, `{"rooms":[{"name":"a"}],"nextCursor":"x"}`), status(200, `{"rooms":[{"name":"b"}]}`))
	var names []string
	for room, err := range client.AllRooms(context.Background(), ListRoomsParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, room.Name)
	}
	if len(names) != 2 || (*requests)[1] != "GET /prefix/v1/rooms?cursor=x" {
		t.Error(names, *requests)
	}
}

func TestRefusesAnAddressThatIsNone(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:3000", "ftp://host", "http://host/?query"} {
		if _, err := NewClient(address, "key", "secret"); err == nil {
			t.Error(address)
		}
	}
}
