package rtc

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"
	"time"
)

// The vectors that the server's own tests read.
type vectors struct {
	Requests []struct {
		Title, APISecret, Method, Path, Timestamp, Body, Signature string
	}
	Webhooks []struct {
		Title, Secret, Body string
		Now                 int64
		Headers             map[string]string
		Standard, Specified bool
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("../../data/vectors/signing.json")
	if err != nil {
		t.Fatal(err)
	}
	var read vectors
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Requests) == 0 || len(read.Webhooks) == 0 {
		t.Fatal("no vectors")
	}
	return read
}

func TestSignaturesOfRequests(t *testing.T) {
	for _, vector := range readVectors(t).Requests {
		t.Run(vector.Title, func(t *testing.T) {
			signature := SignRequest(vector.APISecret, vector.Method, vector.Path, vector.Timestamp, []byte(vector.Body))
			if signature != vector.Signature {
				t.Errorf("%s instead of %s", signature, vector.Signature)
			}
		})
	}
}

func TestSignaturesOfDeliveries(t *testing.T) {
	for _, vector := range readVectors(t).Webhooks {
		t.Run(vector.Title, func(t *testing.T) {
			header, body, now := http.Header{}, []byte(vector.Body), time.Unix(vector.Now, 0)
			for name, value := range vector.Headers {
				header.Set(name, value)
			}
			if isValid := IsStandardSignatureValid(body, header, vector.Secret, now); isValid != vector.Standard {
				t.Errorf("Standard Webhooks: %v", isValid)
			}
			if isValid := IsBodySignatureValid(body, header, vector.Secret); isValid != vector.Specified {
				t.Errorf("X-Service-Webhook-Signature: %v", isValid)
			}
			event, err := ConstructEvent(body, header, vector.Secret, now)
			if vector.Standard && (err != nil || event.Event != "room_finished") {
				t.Errorf("event %q, error %v", event.Event, err)
			}
			if !vector.Standard && !errors.Is(err, ErrWebhookSignature) {
				t.Errorf("error %v", err)
			}
		})
	}
}
