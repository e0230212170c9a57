import type { Sending, UnregisteredEndpoint } from '../domain/attempt.ts';
import type { SealedBox } from '../lib/sealed-box.ts';
import type { DeliveryRow } from '../store/webhooks/deliveries.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import { type ClientOptions, Deadlines, postTo } from './client.ts';
import { deliveryHeaders, type Secrets, signatureHeaders } from './headers.ts';
import type { Outcome } from './outcome.ts';
import type { Guard } from './ssrf/guard.ts';

/** The limits of one attempt. */
const limits = { timeoutMs: 15_000, maxRead: 65_536, maxKept: 4_096 } as const;

interface SenderDeps {
  readonly guard: Guard;
  readonly secrets: SecretBox;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly version: string;
}

/** Prepared once for each row that is read: opening a secret takes as long as signing with it. */
interface Endpoint {
  readonly url: URL;
  readonly secret: string;
  readonly previousSecret: string | undefined;
}

/** Signs a request when it is sent, and posts it to an address that was just checked. */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #options: ClientOptions;
  readonly #endpoints = new WeakMap<WebhookRow, Endpoint>();

  constructor(deps: SenderDeps) {
    const { now, monotonic } = deps;
    this.#deps = deps;
    this.#options = { ...limits, deadlines: new Deadlines(monotonic), now, monotonic };
  }

  /** Cancels the attempts in flight, and all later ones. */
  close(): void {
    this.#options.deadlines.close();
  }

  send(webhook: WebhookRow, sending: Sending): Promise<Outcome> {
    const endpoint = this.#endpoint(webhook);
    return this.#post(endpoint.url, sending, secretsAt(endpoint, webhook, sending.at), webhook.webhook_id);
  }

  /** Sends to a URL that has no webhook. */
  sendTo({ url, secret }: UnregisteredEndpoint, sending: Sending): Promise<Outcome> {
    return this.#post(new URL(url), sending, [secret], undefined);
  }

  #post(url: URL, sending: Sending, secrets: Secrets, webhookId: number | undefined): Promise<Outcome> {
    const { replayId, body, isForwarded = false } = sending;
    const headers = deliveryHeaders({
      ...sending,
      webhookId,
      replayId: replayId === 0 ? undefined : replayId,
      secrets,
      version: this.#deps.version,
    });
    const guard = { target: (to: URL) => this.#deps.guard.target(to, isForwarded) };
    return postTo(guard, this.#options, { url, headers, body });
  }

  /**
   * Returns the headers of the last attempt at a delivery, or null before the first one. The signatures are computed again
   * from the body and the secret of then, and left out if one of them is gone.
   */
  sentHeaders(
    webhook: WebhookRow | undefined,
    delivery: DeliveryRow,
    body: string | undefined,
  ): Record<string, string> | null {
    const { event_id, event, attempts: attempt, replay_id, last_at: at, webhook_id: webhookId } = delivery;
    if (at === null) return null;
    const replayId = replay_id === 0 ? undefined : replay_id;
    const sent = { id: String(event_id), event, attempt, replayId, at, webhookId, version: this.#deps.version };
    const secrets = webhook && secretsOf(this.#endpoint(webhook), webhook, delivery.secret_number, at);
    if (secrets && body !== undefined) return deliveryHeaders({ ...sent, body, secrets });
    const headers = deliveryHeaders({ ...sent, body: '', secrets: [''] });
    for (const name of signatureHeaders) delete headers[name];
    return headers;
  }

  #endpoint(webhook: WebhookRow): Endpoint {
    const known = this.#endpoints.get(webhook);
    if (known) return known;
    const { url, secret, previous_secret } = webhook;
    const { secrets } = this.#deps;
    const endpoint = {
      url: new URL(url),
      secret: secrets.open(secret),
      previousSecret: previous_secret === null ? undefined : secrets.open(previous_secret),
    };
    this.#endpoints.set(webhook, endpoint);
    return endpoint;
  }
}

function secretsAt({ secret, previousSecret }: Endpoint, { previous_until }: WebhookRow, at: number): Secrets {
  const isValid = previousSecret !== undefined && previous_until !== null && at < previous_until;
  return isValid ? [secret, previousSecret] : [secret];
}

/** Returns the secrets that signed an attempt, or undefined if one of them is gone or nobody knows which they were. */
function secretsOf(
  endpoint: Endpoint,
  webhook: WebhookRow,
  secretNumber: number | null,
  at: number,
): Secrets | undefined {
  const { secret_number: current, earlier_until } = webhook;
  // Old attempts do not say. There is no doubt if there has been only one secret.
  const used = secretNumber ?? (current === 1 && endpoint.previousSecret === undefined ? 1 : undefined);
  if (used === current) return secretsAt(endpoint, webhook, at);
  const isAlone = earlier_until === null || at >= earlier_until;
  return used === current - 1 && endpoint.previousSecret !== undefined && isAlone
    ? [endpoint.previousSecret]
    : undefined;
}

const version = 'v1';

/** Encrypts the secrets of webhooks for the database. */
export class SecretBox {
  readonly #box: SealedBox;

  constructor(box: SealedBox) {
    this.#box = box;
  }

  seal(secret: string): string {
    return `${version}.${this.#box.seal(secret).toString('base64url')}`;
  }

  /** Throws if the secret was sealed with another key, or was changed. */
  open(sealed: string): string {
    const [found, data] = sealed.split('.');
    if (found !== version || data === undefined) throw new Error('not a sealed secret of this version');
    return this.#box.open(Buffer.from(data, 'base64url'));
  }
}
