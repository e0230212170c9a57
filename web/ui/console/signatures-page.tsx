/** @jsxImportSource preact */
import { ApiError } from '@parley-chat/sdk';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Icon } from '../icon.tsx';
import { Problem, useSubmit } from '../problem.tsx';
import { navigate } from '../route.ts';
import { readFilters, signaturePath } from './filters.ts';
import { PageHead } from './page.tsx';
import { debugSignature, type Known, type Part, type Report, writeHeaders } from './signature.ts';
import { exactTime } from './times.ts';

const words = consoleText.signatures;

/** Says why a signature does not match. All of it happens in the browser. */
export function SignaturesPage({ query }: { query: string }) {
  const { client } = useSession();
  const { problem, submit, isBusy, fail } = useSubmit();
  const { deliveryId } = readFilters(query);
  const [wanted, setWanted] = useState(deliveryId === undefined ? '' : String(deliveryId));
  const [known, setKnown] = useState<Known | undefined>(undefined);
  const [headers, setHeaders] = useState('');
  const [body, setBody] = useState('');
  const [secret, setSecret] = useState('');
  const [isShown, setShown] = useState(false);
  const secretInput = useRef<HTMLInputElement>(null);
  const fill = useCallback(
    (delivery_id: number) =>
      submit(async () => {
        try {
          const { delivery } = await client.webhooks.delivery({ delivery_id });
          const { event_id, body, headers } = delivery;
          setKnown({ eventId: String(event_id), body, time: headers?.['webhook-timestamp'] });
          setHeaders((before) => (before.trim() === '' ? writeHeaders(headers ?? {}) : before));
          setBody((before) => (before === '' ? (body ?? '') : before));
          // Only the secret is missing now.
          secretInput.current?.focus();
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 404) throw error;
          setKnown(undefined);
          fail(words.noDelivery);
        }
      }),
    [client, submit, fail],
  );
  useEffect(() => {
    if (deliveryId !== undefined) fill(deliveryId);
  }, [deliveryId, fill]);
  const secretField = {
    ref: secretInput,
    id: 'debug-secret',
    class: 'code',
    autocomplete: 'off' as const,
    spellcheck: false,
    value: secret,
    onInput: (event: preact.TargetedInputEvent<HTMLInputElement>) => setSecret(event.currentTarget.value),
  };
  const report = debugSignature({ headers, body, secret }, known, Date.now());
  return (
    <div class="page signatures">
      <PageHead words={words} />
      <div class="debugger">
        <div class="fields">
          <form
            class="field"
            onSubmit={(event) => {
              event.preventDefault();
              const id = Number(wanted);
              if (id === deliveryId) fill(id);
              else navigate(signaturePath(id), { replace: true });
            }}
          >
            <label for="debug-delivery">{words.delivery}</label>
            <div class="beside">
              <input
                id="debug-delivery"
                type="text"
                inputMode="numeric"
                pattern="\d{1,15}"
                required
                autocomplete="off"
                aria-describedby="debug-delivery-hint"
                value={wanted}
                onInput={(event) => setWanted(event.currentTarget.value)}
              />
              <button type="submit" class="button quiet" disabled={isBusy}>
                {words.fill}
              </button>
            </div>
            <p id="debug-delivery-hint" class="muted">
              {words.deliveryHint}
            </p>
            <Problem words={problem} />
          </form>
          <div class="field">
            <label for="debug-secret">{words.secret}</label>
            {isShown ? <input type="text" {...secretField} /> : <input type="password" {...secretField} />}
            <label class="check">
              <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.currentTarget.checked)} />
              {words.show}
            </label>
          </div>
        </div>
        <Result report={report} />
        <div class="fields">
          <Area
            id="debug-headers"
            label={words.headers}
            hint={words.headersHint}
            value={headers}
            onChange={setHeaders}
          />
          <Area id="debug-body" label={words.body} hint={words.bodyHint} value={body} onChange={setBody} />
        </div>
      </div>
    </div>
  );
}

interface AreaProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const Area = ({ id, label, hint, value, onChange }: AreaProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <textarea
      id={id}
      class="code"
      rows={8}
      spellcheck={false}
      autocomplete="off"
      aria-describedby={`${id}-hint`}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
    <p id={`${id}-hint`} class="muted">
      {hint}
    </p>
  </div>
);

const calm: ReadonlySet<Report['verdict']> = new Set(['empty', 'noSecret', 'ready']);

function Result({ report: { verdict, checks, signedAt, difference, expected } }: { report: Report }) {
  const { title, next } = words.verdicts[verdict];
  const mood = verdict === 'valid' ? 'good' : calm.has(verdict) ? 'calm' : 'bad';
  const now = Date.now();
  return (
    <section class={`verdict ${mood}`} aria-label={words.result}>
      <div role="status">
        <h2>{title}</h2>
        <p>{next}</p>
      </div>
      {signedAt !== undefined && (
        <p class="muted">
          {words.signedAt({ at: exactTime(signedAt), seconds: Math.round((now - signedAt) / 1_000) })}
        </p>
      )}
      {difference && (
        <div>
          <p>{words.differs(difference)}</p>
          <dl class="facts">
            <div>
              <dt>{words.sent}</dt>
              <dd>{difference.sent === '' ? words.theEnd : <code>{difference.sent}</code>}</dd>
            </div>
            <div>
              <dt>{words.pasted}</dt>
              <dd>{difference.pasted === '' ? words.theEnd : <code>{difference.pasted}</code>}</dd>
            </div>
          </dl>
        </div>
      )}
      {mood !== 'calm' && (
        <ul class="checks" aria-label={words.checks}>
          {(Object.keys(checks) as Part[]).map((part) => (
            <Check key={part} label={words.parts[part]} isRight={checks[part]} />
          ))}
        </ul>
      )}
      {expected.length > 0 && (
        <div>
          <p>{words.expected}</p>
          <pre class="code">{expected.join('\n')}</pre>
        </div>
      )}
    </section>
  );
}

function Check({ label, isRight }: { label: string; isRight: boolean | undefined }) {
  const state = isRight === undefined ? 'unchecked' : isRight ? 'passed' : 'notPassed';
  return (
    <li class={state}>
      {isRight === undefined ? <span class="icon" /> : <Icon name={isRight ? 'check' : 'close'} />}
      {label}
      <span class="muted">{words[state]}</span>
    </li>
  );
}
