/** Programs that verify a delivery, by language. They are those of `docs/webhooks.md`, without the server around them. */
export const snippets = {
  TypeScript: `import { verifyWebhook } from '@parley-chat/sdk/webhook';

// rawBody: the bytes of the request, before anything parses them.
// Throws if the delivery is not from Parley: respond with 401 then.
const event = await verifyWebhook(rawBody, request.headers, process.env.WEBHOOK_SECRET);
console.log(event.id, event.event, event.data);`,
  Python: `import base64, hashlib, hmac, os, time

def is_authentic(raw_body: bytes, headers) -> bool:
    stamp = headers["webhook-timestamp"]
    content = f'{headers["webhook-id"]}.{stamp}.'.encode() + raw_body
    key = os.environ["WEBHOOK_SECRET"].encode()
    mac = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    signed = any(
        hmac.compare_digest(entry, "v1," + mac)
        for entry in headers["webhook-signature"].split()
    )
    return signed and abs(time.time() - int(stamp)) <= 300`,
  Go: `func isAuthentic(body []byte, header http.Header) bool {
	stamp := header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, []byte(os.Getenv("WEBHOOK_SECRET")))
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), stamp, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	sent, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	for _, entry := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(entry), []byte(want)) {
			return true
		}
	}
	return false
}`,
};
