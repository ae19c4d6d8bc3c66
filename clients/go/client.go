// Package rtc calls rtc-service with signed requests and verifies its webhooks. It needs nothing but the standard library.
package rtc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxResponseBytes = 64 << 20
	maxProblemBytes  = 1 << 20
)

// Client calls the service; goroutines may share it. Make it with NewClient.
//
//	client, err := rtc.NewClient("http://127.0.0.1:3000", apiKey, apiSecret)
//	room, err := client.CreateRoom(ctx, rtc.RoomCreate{Name: "demo"})
type Client struct {
	// HTTPClient sends the requests. Its Timeout, 30 seconds at first, is that of one attempt.
	HTTPClient *http.Client
	// Now is the clock that requests are signed with.
	Now func() time.Time

	base      *url.URL
	apiKey    string
	apiSecret string
}

// Error is a request that the service refused.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is the kind of the problem, such as room-not-found.
	Code string
	// Problem is what the service responded (RFC 9457).
	Problem Problem
	// RequestID finds the request in the service's log.
	RequestID string
	// RetryAfter is how long the service asks to wait; 0 where it does not say.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Problem.Detail == "" {
		return fmt.Sprintf("rtc: the service responded with %d", e.Status)
	}
	return fmt.Sprintf("rtc: %s (%d %s)", e.Problem.Detail, e.Status, e.Code)
}

// IsCode tells whether err is a refusal of the service of this kind, such as room-not-found.
func IsCode(err error, code string) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Code == code
}

// NewClient returns a client of the service at an address such as http://127.0.0.1:3000.
func NewClient(address, apiKey, apiSecret string) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" || base.RawQuery != "" {
		return nil, errors.New("rtc: the address has to be that of the service, such as http://127.0.0.1:3000")
	}
	return &Client{
		HTTPClient: &http.Client{
			Timeout: 30 * time.Second,
			// A redirect would take the signed headers to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Now:       time.Now,
		base:      base,
		apiKey:    apiKey,
		apiSecret: apiSecret,
	}, nil
}

// FollowEvents yields the events from a cursor on, as they come, until ctx ends or a request fails. The cursor latest
// yields those that are yet to come.
func (c *Client) FollowEvents(ctx context.Context, params ListEventsParams) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		params.Wait = 25
		for {
			page, err := c.ListEvents(ctx, params)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			params.Cursor = page.NextCursor
		}
	}
}

// ConstructEvent verifies a webhook delivery and returns its event. The body has to be the bytes that arrived.
func ConstructEvent(body []byte, header http.Header, secret string, now time.Time) (Event, error) {
	var event Event
	if err := VerifyWebhook(body, header, secret, now); err != nil {
		return event, err
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return event, fmt.Errorf("rtc: the delivery is signed, but it is not an event: %w", err)
	}
	return event, nil
}

// DownloadRecording writes the MP4 of a recording.
func (c *Client) DownloadRecording(ctx context.Context, recordingID string, to io.Writer) error {
	path := "/v1/recordings/" + url.PathEscape(recordingID) + "/download"
	response, err := c.send(ctx, request{method: http.MethodGet, path: path}, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(to, response.Body)
	return err
}

type request struct {
	method string
	path   string
	query  url.Values
	body   any
	// key is the Idempotency-Key of a POST, the same for each attempt.
	key string
}

func (c *Client) do(ctx context.Context, request request, into any) error {
	text, err := c.read(ctx, request)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("rtc: the response is not the JSON that was expected: %w", err)
	}
	return nil
}

func (c *Client) text(ctx context.Context, request request) (string, error) {
	text, err := c.read(ctx, request)
	return string(text), err
}

// read sends a request, and again where the service refused it before it did anything. A POST, which the service does once
// under its key, is sent again after a lost connection too.
func (c *Client) read(ctx context.Context, request request) ([]byte, error) {
	var body []byte
	if request.body != nil {
		var err error
		if body, err = json.Marshal(request.body); err != nil {
			return nil, fmt.Errorf("rtc: the body cannot be written as JSON: %w", err)
		}
	}
	if request.method == http.MethodPost {
		request.key = keyFor(ctx)
	}
	for attempt := 1; ; attempt++ {
		text, err := c.attempt(ctx, request, body)
		if err == nil || attempt == maxAttempts || !isRepeatable(request.method, err) {
			return text, err
		}
		pause := pauseAfter(err, attempt)
		if pause > maxPause {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (c *Client) attempt(ctx context.Context, request request, body []byte) ([]byte, error) {
	response, err := c.send(ctx, request, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	if err != nil {
		return nil, fmt.Errorf("rtc: the response broke off: %w", err)
	}
	if len(text) > maxResponseBytes {
		return nil, errors.New("rtc: the response is larger than 64 MiB")
	}
	return text, nil
}

// send returns a successful response, whose body the caller closes.
func (c *Client) send(ctx context.Context, request request, body []byte) (*http.Response, error) {
	address := strings.TrimSuffix(c.base.String(), "/") + request.path
	if len(request.query) > 0 {
		address += "?" + request.query.Encode()
	}
	sent, err := http.NewRequestWithContext(ctx, request.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("rtc: %w", err)
	}
	if len(body) > 0 {
		sent.Header.Set("Content-Type", "application/json")
	}
	if request.key != "" {
		sent.Header.Set("Idempotency-Key", request.key)
	}
	SetSignature(sent, c.apiKey, c.apiSecret, body, c.Now())
	response, err := c.HTTPClient.Do(sent)
	if err != nil {
		return nil, fmt.Errorf("rtc: no response: %w", err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return nil, refusalOf(response)
	}
	return response, nil
}

func refusalOf(response *http.Response) *Error {
	refusal := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id")}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxProblemBytes))
	// A proxy's page is not JSON: the status is what there is to say then.
	_ = json.Unmarshal(text, &refusal.Problem)
	refusal.Code = refusal.Problem.Type[strings.LastIndex(refusal.Problem.Type, ":")+1:]
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refusal.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refusal
}

// pages yields the items of pages until one has no further cursor.
func pages[Item any](read func(cursor string) ([]Item, *string, error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		cursor := ""
		for {
			items, next, err := read(cursor)
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = *next
		}
	}
}

// orNil makes a body that was not given absent: a nil pointer in an interface is not nil.
func orNil[Body any](body *Body) any {
	if body == nil {
		return nil
	}
	return body
}

func setString(values url.Values, name, value string) {
	if value != "" {
		values.Set(name, value)
	}
}

func setInt(values url.Values, name string, value int64) {
	if value != 0 {
		values.Set(name, strconv.FormatInt(value, 10))
	}
}

func setBool(values url.Values, name string, value bool) {
	if value {
		values.Set(name, "true")
	}
}
