//go:build live

package rtc

import (
	"context"
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
	if err := client.DeleteRoom(ctx, name); err != nil {
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

func TestLiveFiscalCodes(t *testing.T) {
	client, ctx := liveClient(t), context.Background()
	person := Person{Name: "Mario", Surname: "Rossi", Gender: "M", Day: 1, Month: 1, Year: 1980, City: "Roma"}
	code, err := client.GenerateFiscalCode(ctx, person, GenerateFiscalCodeParams{})
	if err != nil || code.CF != "RSSMRA80A01H501U" {
		t.Errorf("%v, %v", code, err)
	}
}
