/** @jsxImportSource preact */
import { ApiError } from '@parley-chat/sdk';
import { useEffect, useRef, useState } from 'preact/hooks';
import { docsText } from '../../text/docs/text.ts';
import { text } from '../../text/text.ts';
import { CopyButton } from '../console/copy-button.tsx';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { Problem, problemOf } from '../problem.tsx';
import type { Operation } from './api-document.ts';
import { CodeBlock } from './code-block.tsx';
import type { ApiCall } from './request-snippets.ts';
import { type Tried, tryCall } from './try-call.ts';

const words = docsText.tryIt;

/** Where a signed-in person enters the password again. */
const passwordPath = () => `/confirm-password?next=${encodeURIComponent(location.pathname)}`;

interface TryItProps {
  readonly operation: Operation;
  readonly example: ApiCall['input'];
}

/** Makes a call for real, with a token of its own. */
export function TryIt({ operation, example }: TryItProps) {
  const notHere = reasonAgainst(operation);
  return (
    <section class="try-it" aria-labelledby="try-it">
      <h2 id="try-it">{words.title}</h2>
      {notHere ? <p class="muted">{words.notHere[notHere]}</p> : <Form operation={operation} example={example} />}
    </section>
  );
}

/** What they make ends with the token that called, so with the trial. */
const endingWithToken: readonly string[] = ['webhooks.register', 'webhooks.update', 'push.subscribe', 'tokens.create'];

/** Returns why an operation cannot be tried here, or undefined. */
function reasonAgainst(operation: Operation): keyof typeof words.notHere | undefined {
  const { name, isForPages, fileField, returns } = operation;
  if (isForPages) return 'page';
  if (endingWithToken.includes(name)) return 'webhook';
  if (fileField !== undefined) return 'upload';
  return returns === 'stream' ? 'stream' : undefined;
}

type State =
  | { readonly name: 'ready' }
  | { readonly name: 'confirming'; readonly input: ApiCall['input'] }
  | { readonly name: 'sending' }
  | { readonly name: 'done'; readonly tried: Tried }
  | { readonly name: 'failed'; readonly problem: string; readonly needsPassword?: boolean };

function Form({ operation, example }: TryItProps) {
  const { client, store } = useSession();
  const initial = JSON.stringify(example, null, 2);
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [state, setState] = useState<State>({ name: 'ready' });
  const calling = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => calling.current?.abort(), []);
  const hasInput = Object.keys(operation.input.properties ?? {}).length > 0;

  const call = async (input: ApiCall['input']) => {
    const controller = new AbortController();
    calling.current = controller;
    setState({ name: 'sending' });
    try {
      const tried = await tryCall(client, store.me.user_id, operation, { ...operation, input }, controller.signal);
      if (!controller.signal.aborted) setState({ name: 'done', tried });
    } catch (error) {
      if (!controller.signal.aborted) setState(failureOf(error, operation));
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const input = parse(typed ?? initial);
    if (typeof input === 'string') setState({ name: 'failed', problem: words.broken(input) });
    else if (operation.method === 'POST') setState({ name: 'confirming', input });
    else void call(input);
  };
  return (
    <>
      <p class="muted">{words.about}</p>
      <form onSubmit={submit}>
        {hasInput && (
          <label class="field">
            <span>{words.input}</span>
            <textarea
              class="code"
              rows={Math.min(16, (typed ?? initial).split('\n').length + 1)}
              spellcheck={false}
              autocomplete="off"
              value={typed ?? initial}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="buttons">
          <button type="submit" class="button" disabled={state.name === 'sending'}>
            {words.send}
          </button>
          {typed !== undefined && typed !== initial && (
            <button type="button" class="button quiet" onClick={() => setTyped(undefined)}>
              {words.reset}
            </button>
          )}
        </div>
      </form>
      <p role="status" class={state.name === 'sending' ? 'muted' : 'unseen'}>
        {state.name === 'sending' && words.sending}
        {state.name === 'done' && words.status(state.tried)}
      </p>
      {state.name === 'failed' && (
        <Problem words={state.problem}>
          {state.needsPassword && (
            <>
              {' '}
              <a href={passwordPath()}>{words.enterPassword}</a>
            </>
          )}
        </Problem>
      )}
      {state.name === 'done' && <Result tried={state.tried} />}
      {state.name === 'confirming' && (
        <Dialog title={words.confirm(operation.name)} onClose={() => setState({ name: 'ready' })}>
          <p>{words.confirmHint}</p>
          <CodeBlock code={JSON.stringify(state.input, null, 2)} language="json" />
          <div class="buttons">
            <button type="button" class="button quiet" onClick={() => setState({ name: 'ready' })}>
              {text.common.cancel}
            </button>
            <button type="button" class="button danger" onClick={() => void call(state.input)}>
              {words.confirmAct}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Result({ tried: { status, ms, headers, body, isRevoked } }: { tried: Tried }) {
  return (
    <section class={`try-result ${status < 400 ? 'good' : 'bad'}`} aria-label={words.result}>
      <div class="line">
        <h3>{words.status({ status, ms })}</h3>
        <CopyButton key={body} text={body} label={words.copy} />
      </div>
      <CodeBlock code={body} language="json" />
      <dl class="facts" aria-label={words.headers}>
        {headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">{isRevoked ? words.revoked : words.notRevoked}</p>
    </section>
  );
}

/** Returns the object that was typed, or why it is none. */
function parse(typed: string): ApiCall['input'] | string {
  try {
    const value: unknown = JSON.parse(typed.trim() || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ApiCall['input'];
    return words.notObject;
  } catch (error) {
    return error instanceof Error ? error.message : words.notObject;
  }
}

/** A token that was refused is explained. Without a response nobody knows whether the call was made. */
function failureOf(error: unknown, { scopes }: Operation): State {
  if (!(error instanceof ApiError))
    return { name: 'failed', problem: text.problems.because({ failed: words.failed, cause: problemOf(error) }) };
  const needsPassword = error.code === 'forbidden' && scopes.includes('admin');
  const cause = problemOf(
    error,
    needsPassword ? words.refusals : { insufficient_scope: words.refusals.insufficient_scope },
  );
  return { name: 'failed', problem: text.problems.because({ failed: words.noToken, cause }), needsPassword };
}
