package rtc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SignRequest returns the value of X-Service-Signature: the hex HMAC-SHA256, keyed with the API secret, of four lines
// joined by LF: the method in upper case, the path with its query exactly as sent, the timestamp header's value (Unix
// seconds), and the hex SHA-256 of the raw body.
func SignRequest(apiSecret, method, path, timestamp string, body []byte) string {
	bodyHash := sha256.Sum256(body)
	canonical := strings.Join([]string{strings.ToUpper(method), path, timestamp, hex.EncodeToString(bodyHash[:])}, "\n")
	mac := hmac.New(sha256.New, []byte(apiSecret))
	mac.Write([]byte(canonical))
	return hex.EncodeToString(mac.Sum(nil))
}

// SetSignature sets the three headers of a signed request whose body is given. The service accepts a timestamp within
// 300 seconds of its own clock.
func SetSignature(request *http.Request, apiKey, apiSecret string, body []byte, now time.Time) {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	request.Header.Set("X-Api-Key", apiKey)
	request.Header.Set("X-Service-Timestamp", timestamp)
	request.Header.Set("X-Service-Signature", SignRequest(apiSecret, request.Method, request.URL.RequestURI(), timestamp, body))
}
