/** @jsxImportSource preact */
import type { Client, Delivery, Webhook } from '@parley-chat/sdk';
import type { ComponentChildren } from 'preact';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { type Explanation, explain, type FailureKind, lastOf } from './failure.ts';
import { signaturePath, webhookPath } from './filters.ts';
import { exactTime, secondsTime } from './times.ts';

const words = consoleText.health;

export type HealthKind = keyof typeof words.kinds;

/** A webhook, and the delivery that shows what is wrong with it, if something is. */
export interface WebhookState {
  readonly webhook: Webhook;
  readonly failing: Delivery | undefined;
}

/** A delivery takes milliseconds. One that is undelivered for longer waits for something. */
const behindSeconds = 5;

/** Returns the state of a webhook. Only one with undelivered events costs a second call. */
export async function loadState(client: Client, webhook: Webhook): Promise<WebhookState> {
  const { webhook_id, oldest_undelivered_age, down_since } = webhook;
  if (oldest_undelivered_age === null && down_since === null) return { webhook, failing: undefined };
  const { deliveries } = await client.webhooks.deliveries({ webhook_id, state: 'retrying', limit: 1 });
  return { webhook, failing: deliveries[0] };
}

export function healthOf({ webhook, failing }: WebhookState): HealthKind {
  if (webhook.status !== 'active') return webhook.status;
  if (webhook.down_since !== null) return 'failing';
  if (failing) return 'retrying';
  return (webhook.oldest_undelivered_age ?? 0) > behindSeconds ? 'behind' : 'delivering';
}

/** The state of something, as a word in colour. */
export const Pill = ({ kind, children }: { readonly kind: string; readonly children: ComponentChildren }) => (
  <span class={`pill ${kind}`}>{children}</span>
);

export function HealthPill({ state }: { state: WebhookState }) {
  const kind = healthOf(state);
  return <Pill kind={kind}>{words.kinds[kind]}</Pill>;
}

/** Says in words how a webhook is, why, and what to do next. */
export function HealthWords({ state }: { state: WebhookState }) {
  const { webhook, failing } = state;
  const kind = healthOf(state);
  const why = failing && webhook.status === 'active' ? explain(lastOf(failing)) : undefined;
  const lag = webhook.oldest_undelivered_age;
  return (
    <div class="health">
      <p>{sentenceOf(webhook, kind)}</p>
      {webhook.status === 'disabled' && <p>{words.disabledNext(webhook.disabled_reason)}</p>}
      {failing && why && (
        <Why explanation={why}>
          <WhyLinks kind={why.kind} delivery={failing} />
        </Why>
      )}
      {lag !== null && <p class="muted">{words.lag(lag)}</p>}
      {webhook.expired_count > 0 && <p class="muted">{words.expired(webhook.expired_count)}</p>}
      {webhook.previous_secret_until !== null && Date.parse(webhook.previous_secret_until) > Date.now() && (
        <p class="muted">{words.twoSecrets(exactTime(webhook.previous_secret_until))}</p>
      )}
      {webhook.unknown_events.length > 0 && (
        <p class="muted">{words.unknownEvents(webhook.unknown_events.join(', '))}</p>
      )}
    </div>
  );
}

function sentenceOf({ down_since, next_attempt_at, disabled_reason }: Webhook, kind: HealthKind): string {
  if (kind === 'disabled') return words.disabled(disabled_reason);
  if (kind !== 'failing') return words[kind];
  const next = next_attempt_at === null || Date.parse(next_attempt_at) < Date.now() ? null : next_attempt_at;
  return words.failingSince({
    since: down_since === null ? '' : secondsTime(down_since),
    next: next === null ? null : secondsTime(next),
  });
}

interface WhyProps {
  readonly explanation: Explanation;
  /** Links to what helps. */
  readonly children?: ComponentChildren;
}

/** Why an attempt failed, and what to do next. */
export const Why = ({ explanation: { what, next }, children }: WhyProps) => (
  <div class="why">
    <p>
      <strong>{what}</strong>
    </p>
    <p>{next}</p>
    {children}
  </div>
);

/** The delivery that failed, and the debugger if its signature may be the cause. */
const WhyLinks = ({ kind, delivery }: { readonly kind: FailureKind; readonly delivery: Delivery }) => (
  <p class="links">
    <a href={webhookPath(delivery.webhook_id, { deliveryId: delivery.delivery_id })}>{words.seeDelivery}</a>
    {kind === 'signature' && <a href={signaturePath(delivery.delivery_id)}>{consoleText.delivery.checkSignature}</a>}
  </p>
);

/** What a webhook receives, in one line. */
export function Receives({ webhook: { events, chat_id, service_wide } }: { webhook: Webhook }) {
  const { store } = useSession();
  const list = consoleText.webhooks;
  const chat = chat_id === null ? undefined : store.chat(chat_id);
  const which = service_wide
    ? list.wholeService
    : chat_id === null
      ? list.everyChat
      : chat
        ? chatName(chat)
        : list.otherChat;
  const names = events.includes('*')
    ? list.everyEvent
    : events.length <= 2
      ? events.join(', ')
      : list.someEvents(events.length);
  return <span class="muted">{list.receives({ events: names, chat: <bdi>{which}</bdi> })}</span>;
}
