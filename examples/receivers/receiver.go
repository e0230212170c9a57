// A receiver for Parley webhooks. Run: WEBHOOK_SECRET='a secret of yours' PORT=3000 go run examples/receivers/receiver.go
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	bodyLimit  = 1 << 20
	tolerance  = 5 * time.Minute
	remembered = 10_000
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

// In production, store the ids in your database, in the same transaction as the work that each event causes.
var (
	mutex sync.Mutex
	seen  = map[string]bool{}
	order []string
)

func isNew(id string) bool {
	mutex.Lock()
	defer mutex.Unlock()
	if seen[id] {
		return false
	}
	seen[id] = true
	order = append(order, id)
	if len(order) > remembered {
		delete(seen, order[0])
		order = order[1:]
	}
	return true
}

func isAuthentic(id, timestamp, signatures string, body []byte) bool {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// During a rotation there is one signature per secret.
	for _, given := range strings.Split(signatures, " ") {
		if hmac.Equal(expected, []byte(given)) {
			seconds, err := strconv.ParseInt(timestamp, 10, 64)
			return err == nil && time.Since(time.Unix(seconds, 0)).Abs() <= tolerance
		}
	}
	return false
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	// Same value as X-Webhook-Id, but covered by the signature.
	id := r.Header.Get("webhook-id")
	if !isAuthentic(id, r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), body) {
		http.Error(w, "bad signature", http.StatusUnauthorized)
		return
	}
	var event struct {
		Event string
		Data  json.RawMessage
	}
	if err := json.Unmarshal(body, &event); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	// Put slow work into a queue: Parley waits 15 seconds for the response.
	if isNew(id) {
		fmt.Println(id, event.Event, string(event.Data))
	}
	io.WriteString(w, "ok")
}

func main() {
	if len(secret) == 0 {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "3000"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /", receive)
	server := &http.Server{ReadTimeout: 15 * time.Second}
	fmt.Printf("Listening on http://127.0.0.1:%d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}
