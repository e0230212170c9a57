<?php
// A receiver for Parley webhooks. Run: WEBHOOK_SECRET='a secret of yours' php -S 127.0.0.1:3000 examples/receivers/receiver.php
declare(strict_types=1);

// Write errors to the log. If PHP displays them, it responds with 200 to a request that failed.
ini_set('display_errors', '0');
ini_set('log_errors', '1');

const BODY_LIMIT = 1_048_576;
const TOLERANCE = 300;
const REMEMBERED = 10_000;

// PHP keeps no state between requests, so this example stores the ids in a file. In production, store them in your
// database, in the same transaction as the work that each event causes.
function is_new(string $id): bool
{
    $file = fopen(sys_get_temp_dir() . '/parley-webhooks-seen', 'c+');
    if ($file === false || !flock($file, LOCK_EX)) {
        throw new RuntimeException('cannot read the file of seen ids');
    }
    $seen = explode("\n", (string) stream_get_contents($file));
    $new = !in_array($id, $seen, true);
    if ($new) {
        $seen = array_slice([...$seen, $id], -REMEMBERED);
        rewind($file);
        ftruncate($file, 0);
        fwrite($file, implode("\n", $seen));
    }
    fclose($file);
    return $new;
}

function is_authentic(string $id, string $timestamp, string $signatures, string $body): bool
{
    $secret = (string) getenv('WEBHOOK_SECRET');
    if ($secret === '') {
        throw new RuntimeException('WEBHOOK_SECRET is not set');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
    // During a rotation there is one signature per secret.
    foreach (explode(' ', $signatures) as $given) {
        if (hash_equals($expected, $given)) {
            return abs(time() - (int) $timestamp) <= TOLERANCE;
        }
    }
    return false;
}

function respond(int $status, string $text): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    exit($text);
}

if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    respond(405, 'POST only');
}
$body = (string) file_get_contents('php://input', length: BODY_LIMIT + 1);
if (strlen($body) > BODY_LIMIT) {
    respond(413, 'too large');
}
// Same value as X-Webhook-Id, but covered by the signature.
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
if (!is_authentic($id, $timestamp, $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '', $body)) {
    respond(401, 'bad signature');
}
// Put slow work into a queue: Parley waits 15 seconds for the response.
if (is_new($id)) {
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    error_log("$id {$event['event']} " . json_encode($event['data'], JSON_THROW_ON_ERROR));
}
respond(200, 'ok');
