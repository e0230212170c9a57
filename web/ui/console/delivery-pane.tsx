/** @jsxImportSource preact */
import { ApiError } from '@parley-chat/sdk';
import type { Attempt, DeliveryInFull } from '@parley-chat/sdk/operations.ts';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { isWindowOpen } from '../dialogs.ts';
import { IconButton } from '../icon.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { CopyButton } from './copy-button.tsx';
import { ChatOf } from './deliveries-table.tsx';
import { isOpen, useDeliveryActs } from './delivery-acts.ts';
import { explain, lastOf, redirectTarget } from './failure.ts';
import { signaturePath } from './filters.ts';
import { Pill, UseTarget, Why } from './health.tsx';
import { useOrder } from './live.ts';
import { writeHeaders } from './signature.ts';
import { exactTime, secondsTime } from './times.ts';

const words = consoleText.delivery;

/** What the advice about a failure needs to know of the webhook. */
export interface Advice {
  /** The URL of the webhook. Empty until it is loaded. */
  readonly url: string;
  /** Until when two secrets sign. */
  readonly overlapEnd: string | undefined;
  /** Called with the URL that a redirect leads to. */
  readonly onUse: (url: string) => void;
}

interface DeliveryPaneProps {
  readonly deliveryId: number;
  readonly tick: number;
  readonly advice: Advice;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

/** One delivery in full: what was sent, what came back, and every attempt. */
export function DeliveryPane({ deliveryId, tick, advice, onChange, onClose }: DeliveryPaneProps) {
  const { client } = useSession();
  const [delivery, setDelivery] = useState<DeliveryInFull | undefined>(undefined);
  const [isMissing, setMissing] = useState(false);
  const order = useOrder();
  const load = useCallback(async () => {
    try {
      const isNewest = order();
      const { delivery } = await client.webhooks.delivery({ delivery_id: deliveryId });
      if (isNewest()) setDelivery(delivery);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      setMissing(true);
    }
  }, [client, deliveryId]);
  const { problem, run, again } = useLoading(words.failed, load);
  // A settled one changes too: it can be redelivered elsewhere.
  useEffect(() => {
    if (tick > 0) run(load);
  }, [tick]);
  const acts = useDeliveryActs(() => {
    run(load);
    onChange();
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !isWindowOpen()) onClose();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [onClose]);
  return (
    <aside class="delivery-pane" aria-label={words.title(deliveryId)}>
      <header class="line">
        <h2 ref={heading} tabIndex={-1}>
          {words.title(deliveryId)}
        </h2>
        <IconButton icon="close" label={words.close} onClick={onClose} />
      </header>
      <Problem words={problem} onRetry={again} />
      {isMissing && <p class="muted">{words.missing}</p>}
      {delivery && (
        <>
          <Facts delivery={delivery} advice={advice} />
          <div class="buttons">
            <button type="button" class="button" onClick={() => acts.redeliver([deliveryId])}>
              {consoleText.deliveries.redeliver}
            </button>
            {isOpen(delivery) && (
              <button type="button" class="button quiet" onClick={() => acts.skip(deliveryId)}>
                {consoleText.deliveries.skip}
              </button>
            )}
            <a class="button quiet" href={signaturePath(deliveryId)}>
              {words.checkSignature}
            </a>
          </div>
          <Response attempt={delivery.attempts.at(-1)} />
          <Timeline attempts={delivery.attempts} />
          <Sent delivery={delivery} />
        </>
      )}
    </aside>
  );
}

function Facts({ delivery, advice: { url, overlapEnd, onUse } }: { delivery: DeliveryInFull; advice: Advice }) {
  const { state, event, event_id, chat_id, replay_id, next_attempt_at, reason } = delivery;
  const last = delivery.attempts.at(-1);
  const target = last && redirectTarget(last, url);
  const why = explain(lastOf(delivery), target);
  return (
    <>
      {why && state !== 'skipped' && (
        <Why explanation={why} overlapEnd={overlapEnd}>
          {target !== undefined && <UseTarget target={target} onUse={onUse} />}
        </Why>
      )}
      {state === 'skipped' && <p>{words.skipReason(reason)}</p>}
      {state === 'pending' && <p class="muted">{words.pending}</p>}
      <dl class="facts">
        <Fact name={words.facts.state}>
          <Pill kind={state}>{consoleText.deliveries.states[state]}</Pill>
        </Fact>
        <Fact name={words.facts.event}>{event}</Fact>
        <Fact name={words.facts.eventId}>{event_id}</Fact>
        <Fact name={words.facts.chat}>
          <ChatOf chatId={chat_id} />
        </Fact>
        {state === 'retrying' && next_attempt_at !== null && (
          <Fact name={words.facts.next}>{secondsTime(next_attempt_at)}</Fact>
        )}
        {replay_id !== null && <Fact name={words.facts.replay}>{replay_id}</Fact>}
      </dl>
    </>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Every attempt, the newest first. */
function Timeline({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <section>
      <h3>{words.timeline}</h3>
      {attempts.length === 0 && <p class="muted">{words.noAttempts}</p>}
      <ol class="timeline" aria-label={words.timeline}>
        {attempts.toReversed().map((attempt) => {
          const why = explain(attempt);
          const status = why
            ? attempt.status === null
              ? why.short
              : `${attempt.status} ${why.short}`
            : `${attempt.status}`;
          return (
            <li key={attempt.number} class={why ? 'failed' : 'delivered'}>
              <div class="line">
                <strong>{words.attempt(attempt.number)}</strong>
                <time dateTime={attempt.at} title={exactTime(attempt.at)}>
                  {secondsTime(attempt.at)}
                </time>
              </div>
              <p>{words.attemptResult({ status, ms: consoleText.milliseconds(attempt.duration_ms) })}</p>
              {attempt.status === null && attempt.error !== null && <p class="muted">{attempt.error}</p>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** The request of the last attempt, as it was sent. */
function Sent({ delivery }: { delivery: DeliveryInFull }) {
  const { body, headers } = delivery;
  const written = headers && writeHeaders(headers);
  return (
    <section>
      <div class="line">
        <h3>{words.headers}</h3>
        {written !== null && <CopyButton text={written} label={words.copyHeaders} />}
      </div>
      {written === null ? <p class="muted">{words.notSent}</p> : <pre class="code">{written}</pre>}
      {headers && !headers['webhook-signature'] && <p class="muted">{words.unsigned}</p>}
      <div class="line">
        <h3>{words.body}</h3>
        {body !== null && <CopyButton text={body} label={words.copyBody} />}
      </div>
      {body === null ? <p class="muted">{words.bodyExpired}</p> : <pre class="code">{body}</pre>}
    </section>
  );
}

function Response({ attempt }: { attempt: Attempt | undefined }) {
  if (!attempt) return null;
  const { number, status, answer } = attempt;
  return (
    <section>
      <h3>{words.responseOf(number)}</h3>
      {status === null ? (
        <p class="muted">{words.noResponse}</p>
      ) : answer ? (
        <pre class="code">{answer}</pre>
      ) : (
        <p class="muted">{answer === null ? words.notKept : words.emptyResponse}</p>
      )}
    </section>
  );
}
