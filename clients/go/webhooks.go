package rtc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is how far the timestamp of a delivery may be from the receiver's clock, either way: the tolerance of
// Standard Webhooks (https://www.standardwebhooks.com).
const WebhookTolerance = 300 * time.Second

// ErrWebhookSignature says that a delivery is not genuine, or too old. Respond with 401 and do not act on it.
var ErrWebhookSignature = errors.New("rtc: the delivery has no valid signature; check the webhook's secret, that the body is verified as it arrived, and this machine's clock")

// VerifyWebhook returns nil for a genuine delivery, and ErrWebhookSignature for one that was forged, changed, or recorded
// and sent again later. The body has to be the bytes that arrived.
func VerifyWebhook(body []byte, header http.Header, secret string, now time.Time) error {
	if IsStandardSignatureValid(body, header, secret, now) {
		return nil
	}
	return ErrWebhookSignature
}

// IsStandardSignatureValid tells whether the Standard Webhooks headers belong to the body and their timestamp is within
// WebhookTolerance of now. The header holds several signatures, separated by spaces, while the secret is being rotated.
func IsStandardSignatureValid(body []byte, header http.Header, secret string, now time.Time) bool {
	id, timestamp := header.Values("Webhook-Id"), header.Get("Webhook-Timestamp")
	if len(id) == 0 || !isWithinTolerance(timestamp, now) {
		return false
	}
	mac := hmac.New(sha256.New, webhookKey(secret))
	mac.Write([]byte(id[0] + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, signature := range strings.Split(header.Get("Webhook-Signature"), " ") {
		if hmac.Equal([]byte(signature), expected) {
			return true
		}
	}
	return false
}

// IsBodySignatureValid tells whether X-Service-Webhook-Signature is the body's own. It signs no time, and after a
// rotation it is the new secret's at once: prefer VerifyWebhook.
func IsBodySignatureValid(body []byte, header http.Header, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(header.Get("X-Service-Webhook-Signature")), []byte(expected))
}

func isWithinTolerance(timestamp string, now time.Time) bool {
	if timestamp == "" || len(timestamp) > 12 || strings.Trim(timestamp, "0123456789") != "" {
		return false
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	return now.Truncate(time.Second).Sub(time.Unix(seconds, 0)).Abs() <= WebhookTolerance
}

// webhookKey returns the bytes behind whsec_. The text of a secret of another form is its own key.
func webhookKey(secret string) []byte {
	encoded, hasPrefix := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if hasPrefix && err == nil && len(key) > 0 && base64.StdEncoding.EncodeToString(key) == encoded {
		return key
	}
	return []byte(secret)
}
