/** @jsxImportSource preact */
import type { Delivery, Webhook } from '@parley-chat/sdk';
import type { WebhookHealth } from '@parley-chat/sdk/operations.ts';
import type { ComponentChildren } from 'preact';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { type Explanation, explain, type FailureKind, lastOf } from './failure.ts';
import { signaturePath, webhookPath } from './filters.ts';
import { exactTime, secondsTime } from './times.ts';

const words = consoleText.health;

export type HealthKind = keyof typeof words.kinds;

/** The server counts no further. */
const maxCount = 1_000;

/** The server counts the deliveries of events of this time. */
const recentMs = 24 * 3_600_000;

/** A delivery takes milliseconds. One that is undelivered for longer waits for something. */
const behindSeconds = 5;

export function healthOf(webhook: WebhookHealth): HealthKind {
  const { status, down_since, retrying_count, delivered_count, oldest_undelivered_age } = webhook;
  if (status !== 'active') return status;
  if (down_since !== null || (retrying_count > 0 && delivered_count === 0)) return 'failing';
  if (retrying_count > 0) return 'retrying';
  return (oldest_undelivered_age ?? 0) > behindSeconds ? 'behind' : 'delivering';
}

/** The state of something, as a word in colour. */
export const Pill = ({ kind, children }: { readonly kind: string; readonly children: ComponentChildren }) => (
  <span class={`pill ${kind}`}>{children}</span>
);

export function HealthPill({ webhook }: { webhook: WebhookHealth }) {
  const kind = healthOf(webhook);
  return <Pill kind={kind}>{words.kinds[kind]}</Pill>;
}

/** Says in words how a webhook is, why, and what to do next. */
export function HealthWords({ webhook }: { webhook: WebhookHealth }) {
  const { last_failure: failing } = webhook;
  const kind = healthOf(webhook);
  const isFailing = kind === 'failing' || kind === 'retrying';
  const why = failing && isFailing ? explain(lastOf(failing)) : undefined;
  const overlapEnd = overlapEndOf(webhook);
  return (
    <div class="health">
      <p>{sentenceOf(webhook, kind)}</p>
      {webhook.status === 'disabled' && <p>{words.disabledNext(webhook.disabled_reason)}</p>}
      {failing && why && (
        <Why explanation={why} overlapEnd={overlapEnd}>
          <WhyLinks kind={why.kind} delivery={failing} />
        </Why>
      )}
      {webhook.expired_count > 0 && <p class="muted">{words.expired(webhook.expired_count)}</p>}
      {overlapEnd && <TwoSecrets until={overlapEnd} />}
      {webhook.unknown_events.length > 0 && (
        <p class="muted">{words.unknownEvents(webhook.unknown_events.join(', '))}</p>
      )}
    </div>
  );
}

/** Returns until when two secrets sign, or undefined if only one does. */
export function overlapEndOf({ previous_secret_until: until }: Webhook): string | undefined {
  return until !== null && Date.parse(until) > Date.now() ? exactTime(until) : undefined;
}

/** After a rotation: which header is signed with which secret. */
const TwoSecrets = ({ until }: { readonly until: string }) => (
  <div class="two-secrets">
    <p>{words.twoSecrets}</p>
    <dl aria-label={words.secrets.label}>
      <dt>{words.secrets.new}</dt>
      <dd>{words.secrets.newSigns}</dd>
      <dt>{words.secrets.old}</dt>
      <dd>{words.secrets.oldSigns(until)}</dd>
    </dl>
  </div>
);

function sentenceOf(webhook: WebhookHealth, kind: HealthKind): string {
  const { down_since, failing_since, disabled_reason, created_at } = webhook;
  if (kind === 'disabled') return words.disabled(disabled_reason);
  if (kind === 'retrying') return words.retrying(failing_since === null ? null : secondsTime(failing_since));
  if (kind !== 'failing') return words[kind];
  const since = down_since ?? failing_since;
  const nextAt = webhook.next_attempt_at ?? webhook.last_failure?.next_attempt_at ?? null;
  const next = nextAt === null || Date.parse(nextAt) < Date.now() ? null : nextAt;
  return words.failingSince({
    since: since === null ? null : secondsTime(since),
    isDown: down_since !== null,
    isNew: Date.now() - Date.parse(created_at) < recentMs,
    next: next === null ? null : secondsTime(next),
  });
}

interface WhyProps {
  readonly explanation: Explanation;
  /** Until when two secrets sign: the rotation is then the likely cause of a refused signature. */
  readonly overlapEnd?: string | undefined;
  /** Links to what helps. */
  readonly children?: ComponentChildren;
}

/** Why an attempt failed, and what to do next. */
export const Why = ({ explanation: { kind, what, next }, overlapEnd, children }: WhyProps) => (
  <div class="why">
    <p>
      <strong>{what}</strong>
    </p>
    {kind === 'signature' && overlapEnd !== undefined && <p>{words.rotated(overlapEnd)}</p>}
    <p>{next}</p>
    {children}
  </div>
);

interface UseTargetProps {
  readonly target: string;
  readonly onUse: (url: string) => void;
}

/** Takes the URL that a redirect leads to. */
export const UseTarget = ({ target, onUse }: UseTargetProps) => (
  <div>
    <button type="button" class="button quiet" onClick={() => onUse(target)}>
      {words.useTarget}
    </button>
  </div>
);

/** The delivery that failed, and the debugger if its signature may be the cause. */
const WhyLinks = ({ kind, delivery }: { readonly kind: FailureKind; readonly delivery: Delivery }) => (
  <p class="links">
    <a href={webhookPath(delivery.webhook_id, { deliveryId: delivery.delivery_id })}>{words.seeDelivery}</a>
    {kind === 'signature' && <a href={signaturePath(delivery.delivery_id)}>{consoleText.delivery.checkSignature}</a>}
  </p>
);

/** What a webhook has done lately, and what waits, in numbers. */
export function HealthCounts({ webhook }: { webhook: WebhookHealth }) {
  const { webhook_id, recent_count, delivered_count, failed_count, retrying_count, backlog_count } = webhook;
  const lag = webhook.oldest_undelivered_age;
  const said = (count: number, isMore = count >= maxCount) => words.count(count, isMore);
  // Of more deliveries than are counted, more were delivered.
  const delivered = said(delivered_count, recent_count >= maxCount);
  const listed = (state: 'failed' | 'retrying', count: number, isMore = count >= maxCount) =>
    count === 0 ? said(0) : <a href={webhookPath(webhook_id, { state })}>{said(count, isMore)}</a>;
  const facts = [
    [words.recentDelivered, delivered],
    [words.recentFailed, listed('failed', failed_count, failed_count > 0 && recent_count >= maxCount)],
    [words.retried, listed('retrying', retrying_count)],
    [words.backlog, said(backlog_count)],
    [words.lag, lag === null ? consoleText.none : consoleText.age(lag)],
  ] as const;
  return (
    <dl class="counts" aria-label={words.counts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

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
