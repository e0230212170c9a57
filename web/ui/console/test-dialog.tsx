/** @jsxImportSource preact */
import type { ClientOutput, EventName, Webhook } from '@parley-chat/sdk';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { Problem, useSubmit } from '../problem.tsx';
import { eventsOf, exampleOf, nouns, testExample } from './event-choice.ts';
import { explain, type FailureKind, redirectTarget } from './failure.ts';
import { overlapEndOf, UseTarget, Why } from './health.tsx';

const words = consoleText.test;

interface TestDialogProps extends Pick<TestFormProps, 'webhook' | 'onUse'> {
  readonly onClose: () => void;
}

export const TestDialog = ({ webhook, onUse, onClose }: TestDialogProps) => (
  <Dialog title={words.title} onClose={onClose}>
    <TestForm webhook={webhook} onUse={onUse} isWhole />
  </Dialog>
);

interface TestFormProps {
  readonly webhook: Webhook;
  /** Called with the URL that a redirect leads to. */
  readonly onUse?: ((url: string) => void) | undefined;
  /** False if there is room for the button and the result alone. */
  readonly isWhole?: boolean;
}

/** Sends a test with an event of choice, and says what came of it. */
export function TestForm({ webhook, onUse, isWhole = false }: TestFormProps) {
  const { webhook_id, url } = webhook;
  const { client } = useSession();
  const [event, setEvent] = useState<EventName | undefined>(undefined);
  const [result, setResult] = useState<ClientOutput<'webhooks.test'> | undefined>(undefined);
  const { problem, submit, isBusy } = useSubmit();
  const send = async () => {
    setResult(undefined);
    setResult(await client.webhooks.test({ webhook_id, event }));
  };
  return (
    <>
      {isWhole && <EventField event={event} onChange={setEvent} webhookId={webhook_id} />}
      <Problem words={problem} />
      <div class="buttons">
        <button type="button" class="button" disabled={isBusy} onClick={() => submit(send)}>
          {result ? words.again : words.send}
        </button>
      </div>
      <div role="status" class="test-result">
        {isBusy && <p class="muted">{words.sending}</p>}
        {result && <Outcome result={result} url={url} overlapEnd={overlapEndOf(webhook)} onUse={onUse} />}
      </div>
    </>
  );
}

interface EventFieldProps {
  /** Undefined stands for the event that is only a test. */
  readonly event: EventName | undefined;
  readonly onChange: (event: EventName | undefined) => void;
  readonly webhookId: number;
}

/** The event of a test, and an example of its body. */
function EventField({ event, onChange, webhookId }: EventFieldProps) {
  return (
    <>
      <label class="field">
        <span>{words.event}</span>
        <select
          value={event ?? ''}
          autofocus
          onChange={({ currentTarget: { value } }) => onChange(value === '' ? undefined : (value as EventName))}
        >
          <option value="">{words.plain}</option>
          {nouns.map((noun) => (
            <optgroup key={noun} label={consoleText.nouns[noun]}>
              {eventsOf(noun).map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <div class="field">
        <span>{words.body}</span>
        <pre class="code">{event ? exampleOf(event) : testExample(webhookId)}</pre>
        <p class="muted">{words.bodyHint}</p>
      </div>
    </>
  );
}

interface OutcomeProps {
  readonly result: ClientOutput<'webhooks.test'>;
  /** The URL that was tested. */
  readonly url: string;
  readonly overlapEnd?: string | undefined;
  /** What to do next about some failures, instead of the usual words. */
  readonly next?: Readonly<Partial<Record<FailureKind, string>>> | undefined;
  readonly onUse?: ((url: string) => void) | undefined;
}

/** A test is no delivery, and is not repeated by itself. */
const usualNexts: Readonly<Partial<Record<FailureKind, string>>> = consoleText.testFailures;

/** What came of a test. */
export function Outcome({ result: { attempt }, url, overlapEnd, next = {}, onUse }: OutcomeProps) {
  const { status, duration_ms, answer } = attempt;
  const target = redirectTarget(attempt, url);
  const why = explain(attempt, target);
  return (
    <>
      {why ? (
        <Why explanation={{ ...why, next: next[why.kind] ?? usualNexts[why.kind] ?? why.next }} overlapEnd={overlapEnd}>
          {target !== undefined && onUse && <UseTarget target={target} onUse={onUse} />}
        </Why>
      ) : (
        <p class="good">{words.delivered({ status: status ?? 0, ms: consoleText.milliseconds(duration_ms) })}</p>
      )}
      {status !== null && (
        <div class="field">
          <span>{words.response}</span>
          {answer ? <pre class="code">{answer}</pre> : <p class="muted">{words.noResponse}</p>}
        </div>
      )}
    </>
  );
}
