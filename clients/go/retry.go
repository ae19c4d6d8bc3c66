package rtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"syscall"
	"time"
)

const (
	maxAttempts = 3
	maxPause    = 10 * time.Second
)

type idempotencyKey struct{}

// WithIdempotencyKey returns a context under which a POST carries this key instead of a random one, so that a program that
// was restarted goes on: the service does a request once per key, for 24 hours, and gives its first response again.
//
//	webhook, err := client.CreateWebhook(rtc.WithIdempotencyKey(ctx, orderID), rtc.WebhookCreate{URL: address})
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}

func keyFor(ctx context.Context) string {
	if key, isChosen := ctx.Value(idempotencyKey{}).(string); isChosen {
		return key
	}
	return fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
}

// repeatablePosts are the refusals of a POST that soon pass: a missing recorder stays missing.
var repeatablePosts = []string{
	"rate-limited",
	"server-busy",
	"shutting-down",
	"storage-unavailable",
	"secret-unavailable",
	"idempotency-in-progress",
}

func isRepeatable(method string, err error) bool {
	var refusal *Error
	isRefusal := errors.As(err, &refusal)
	switch method {
	case http.MethodPost:
		return isLost(err) || (isRefusal && slices.Contains(repeatablePosts, refusal.Code))
	case http.MethodGet, http.MethodDelete:
		return isRefusal && (refusal.Status == http.StatusTooManyRequests || refusal.Status == http.StatusServiceUnavailable)
	default:
		return false
	}
}

// isLost tells whether the connection ended while the request was under way, so that nobody knows what became of it.
func isLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func pauseAfter(err error, attempt int) time.Duration {
	var refusal *Error
	if errors.As(err, &refusal) && refusal.RetryAfter > 0 {
		return refusal.RetryAfter
	}
	ceiling := 250 * time.Millisecond << (attempt - 1)
	return ceiling/2 + rand.N(ceiling/2)
}
