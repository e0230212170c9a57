-- The URL of the webhook that has responded with a 2xx. Until then, requests to it are limited by host.
ALTER TABLE endpoint_state ADD COLUMN confirmed_url TEXT;
UPDATE endpoint_state SET confirmed_url = (SELECT w.url FROM webhooks w WHERE w.webhook_id = endpoint_state.webhook_id)
WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = endpoint_state.webhook_id AND d.state = 'delivered');
