import { disabledReasons, type Webhook } from '@parley/contract';
import { program } from '@parley/server/lib/program.ts';
import type { WebhookHealth } from '@parley-chat/sdk/operations.ts';
import { ageText } from '../age.ts';
import type { Environment } from '../context.ts';
import { localSecond, localTime, oneLine } from '../output.ts';

/**
 * Returns the status in one word. An active webhook is `down` if its endpoint does not respond, `failing` if it has accepted
 * nothing in 24 hours, and `retrying` if it does not accept some events. `health` is that of a webhook that fails.
 */
export function statusText(
  { status, down_since }: Pick<Webhook, 'status' | 'down_since'>,
  health: WebhookHealth | undefined,
): string {
  if (status !== 'active') return status;
  if (down_since !== null) return 'down';
  if (!health) return 'active';
  return health.delivered_count === 0 ? 'failing' : 'retrying';
}

/** Returns the status, and why: `failing: 500`, or `down: connection refused`. */
export function failureText(webhook: Webhook, health: WebhookHealth | undefined): string {
  const { last_failure: failure = null } = health ?? {};
  const reason = failure && (failure.last_status ?? failure.last_error);
  return `${statusText(webhook, health)}${reason === null ? '' : `: ${oneLine(String(reason))}`}`;
}

/** Returns how old the oldest undelivered event is. */
export const behindText = ({ oldest_undelivered_age: age }: Pick<Webhook, 'oldest_undelivered_age'>): string =>
  age === null ? '-' : ageText(age);

export const eventsText = ({ events }: Pick<Webhook, 'events'>): string =>
  events.includes('*') ? 'all' : oneLine(events.join(','));

/** Returns the state of a webhook in a sentence, with the command that helps. */
export function stateLine(webhook: Webhook, health: WebhookHealth | undefined, env: Environment): string {
  const { webhook_id, status, disabled_reason, down_since, next_attempt_at } = webhook;
  const resume = `${program} webhooks resume ${webhook_id}`;
  if (status === 'paused') return `paused. Events wait until: ${resume}`;
  if (status === 'disabled') return `disabled: ${reasonText(disabled_reason)}. Make it active: ${resume}`;
  if (down_since === null) {
    const since = health?.failing_since ? ` since ${localTime(health.failing_since, env)}` : '';
    return health
      ? `${statusText(webhook, health)}${since}. Try it now: ${program} webhooks test ${webhook_id}`
      : 'active';
  }
  const next = next_attempt_at === null ? '' : ` The next attempt is at ${localSecond(next_attempt_at, env)}.`;
  return `down since ${localTime(down_since, env)}.${next} Try it now: ${program} webhooks test ${webhook_id}`;
}

/** A newer server may have other reasons. */
const reasonText = (reason: string | null): string =>
  (disabledReasons as Readonly<Record<string, string>>)[reason ?? ''] ?? reason ?? 'unknown';
