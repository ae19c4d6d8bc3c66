//go:build live

package rtc

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
)

// The service that runs has its address and keys in RTC_URL, RTC_API_KEY and RTC_API_SECRET.
func liveClient(t *testing.T) *Client {
	t.Helper()
	client, err := NewClient(os.Getenv("RTC_URL"), os.Getenv("RTC_API_KEY"), os.Getenv("RTC_API_SECRET"))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestLiveRooms(t *testing.T) {
	client, ctx, name := liveClient(t), context.Background(), "go caffè/1"
	metadata := "☕"
	if _, err := client.CreateRoom(ctx, RoomCreate{Name: name, Metadata: &metadata}); err != nil {
		t.Fatal(err)
	}
	room, err := client.GetRoom(ctx, name)
	if err != nil || room.Metadata != metadata {
		t.Errorf("%v, %v", room, err)
	}
	isListed := false
	for each, err := range client.AllRooms(ctx, ListRoomsParams{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		isListed = isListed || each.Name == name
	}
	if !isListed {
		t.Error("the room is not in the list")
	}
	if err := client.DeleteRoom(ctx, name, DeleteRoomParams{}); err != nil {
		t.Error(err)
	}
	if _, err := client.GetRoom(ctx, name); !IsCode(err, "room-not-found") {
		t.Error(err)
	}
}

func TestLiveTokensWebhooksAndEvents(t *testing.T) {
	client, ctx := liveClient(t), context.Background()
	token, err := client.CreateToken(ctx, TokenRequest{RoomID: "go", UserID: "ada", Name: "Ada", Role: "host"})
	if err != nil || strings.Count(token.Token, ".") != 2 {
		t.Errorf("%v, %v", token, err)
	}
	webhook, err := client.CreateWebhook(ctx, WebhookCreate{URL: "https://example.org/hook", Events: []string{"*"}})
	if err != nil || !strings.HasPrefix(webhook.Secret, "whsec_") {
		t.Errorf("%v, %v", webhook, err)
	}
	if err := client.DeleteWebhook(ctx, webhook.ID); err != nil {
		t.Error(err)
	}
	if page, err := client.ListEvents(ctx, ListEventsParams{Cursor: "latest"}); err != nil || page.NextCursor == "" {
		t.Errorf("%v, %v", page, err)
	}
}

func TestLiveKeyDoesAPostOnce(t *testing.T) {
	client := liveClient(t)
	ctx := WithIdempotencyKey(context.Background(), t.Name()+keyFor(context.Background()))
	body := WebhookCreate{URL: "https://example.org/once", Events: []string{"room_created"}}
	first, err := client.CreateWebhook(ctx, body)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.CreateWebhook(ctx, body)
	if err != nil || again.ID != first.ID || again.Secret != first.Secret {
		t.Errorf("%v, %v", again, err)
	}
	body.Events = []string{"*"}
	if _, err := client.CreateWebhook(ctx, body); !IsCode(err, "idempotency-key-reused") {
		t.Error(err)
	}
	if err := client.DeleteWebhook(ctx, first.ID); err != nil {
		t.Error(err)
	}
}

func TestLiveLostResponseDoesAPostOnce(t *testing.T) {
	client, ctx := liveClient(t), context.Background()
	service, err := url.Parse(os.Getenv("RTC_URL"))
	if err != nil {
		t.Fatal(err)
	}
	var replayed []string
	proxy := httputil.NewSingleHostReverseProxy(service)
	proxy.ModifyResponse = func(response *http.Response) error {
		replayed = append(replayed, response.Header.Get("Idempotent-Replayed"))
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(replayed) > 0 {
			proxy.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	forgetful, err := NewClient(server.URL, os.Getenv("RTC_API_KEY"), os.Getenv("RTC_API_SECRET"))
	if err != nil {
		t.Fatal(err)
	}
	address := "https://example.org/" + keyFor(ctx)
	webhook, err := forgetful.CreateWebhook(ctx, WebhookCreate{URL: address, Events: []string{"room_created"}})
	if err != nil || len(replayed) != 2 || replayed[1] != "true" {
		t.Fatalf("%v, %v, %v", webhook, err, replayed)
	}
	list, err := client.ListWebhooks(ctx, ListWebhooksParams{})
	found := 0
	for _, each := range list.Webhooks {
		if each.URL == address {
			found++
		}
	}
	if err != nil || found != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if err := client.DeleteWebhook(ctx, webhook.ID); err != nil {
		t.Error(err)
	}
}

func TestLiveFiscalCodes(t *testing.T) {
	client, ctx := liveClient(t), context.Background()
	person := Person{Name: "Mario", Surname: "Rossi", Gender: "M", Day: 1, Month: 1, Year: 1980, City: "Roma"}
	code, err := client.GenerateFiscalCode(ctx, person, GenerateFiscalCodeParams{})
	if err != nil || code.CF != "RSSMRA80A01H501U" {
		t.Errorf("%v, %v", code, err)
	}
}
