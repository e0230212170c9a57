<?php
// Receives webhooks of Parley: WEBHOOK_SECRET='a secret of yours' php -S 127.0.0.1:3000 docs/receivers/receiver.php
declare(strict_types=1);

// Errors belong in the log: where they are shown instead, PHP answers 200 to a request that ended with one.
ini_set('display_errors', '0');
ini_set('log_errors', '1');

const BODY_LIMIT = 1_048_576;
const TOLERANCE = 300;
const REMEMBERED = 10_000;

// PHP forgets everything between two requests, so the ids are in a file. Keep them in your database instead, and write
// each in one transaction with the work that it stands for.
function is_new(string $id): bool
{
    $file = fopen(sys_get_temp_dir() . '/parley-webhooks-seen', 'c+');
    if ($file === false || !flock($file, LOCK_EX)) {
        throw new RuntimeException('the ids that were seen cannot be read');
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
    // While a secret is being changed there is a signature for each.
    foreach (explode(' ', $signatures) as $given) {
        if (hash_equals($expected, $given)) {
            return abs(time() - (int) $timestamp) <= TOLERANCE;
        }
    }
    return false;
}

function answer(int $status, string $text): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    exit($text);
}

if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    answer(405, 'POST only');
}
$body = (string) file_get_contents('php://input', length: BODY_LIMIT + 1);
if (strlen($body) > BODY_LIMIT) {
    answer(413, 'too large');
}
// The same as X-Webhook-Id, but covered by the signature.
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
if (!is_authentic($id, $timestamp, $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '', $body)) {
    answer(401, 'bad signature');
}
// Real work belongs in a queue: the answer has to be there within 15 seconds.
if (is_new($id)) {
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    error_log("$id {$event['event']} " . json_encode($event['data'], JSON_THROW_ON_ERROR));
}
answer(200, 'ok');
