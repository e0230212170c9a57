/** @jsxImportSource preact */
import { ApiError, type ClientOutput, type Webhook } from '@parley-chat/sdk';
import type { Warning } from '@parley-chat/sdk/operations.ts';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { Problem, useSubmit } from '../problem.tsx';
import { webhookPath } from './filters.ts';
import { makeSecret, SecretField } from './secret.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { snippets } from './snippets.ts';
import { Outcome, TestForm } from './test-dialog.tsx';
import { WebhookForm } from './webhook-form.tsx';

const words = consoleText.create;
const { form } = consoleText;

interface Created {
  readonly webhook: Webhook;
  readonly warnings: readonly Warning[];
  readonly secret: string;
}

/** A URL that was tested, and what came of it. */
interface Tested {
  readonly url: string;
  /** Undefined if the test was not sent. */
  readonly result: ClientOutput<'webhooks.test'> | undefined;
}

/** The value of the choice of all chats of the service. Those of chats are their ids. */
const service = 'service';

/** Tests a URL, creates a webhook with it, shows its secret once, and offers another test. */
export function NewWebhookDialog({ onClose }: { onClose: () => void }) {
  const { client, store } = useSession();
  const [secret, setSecret] = useState(makeSecret);
  const [chat, setChat] = useState('');
  const [includesDirect, setIncludesDirect] = useState(false);
  const [needsPassword, setNeedsPassword] = useState(false);
  const [tested, setTested] = useState<Tested | undefined>(undefined);
  const [isTesting, setTesting] = useState(false);
  const [created, setCreated] = useState<Created | undefined>(undefined);
  if (created)
    return (
      <SecretDialog
        key="created"
        title={words.done}
        about={words.doneHint}
        label={consoleText.secret.label}
        secret={created.secret}
        use={consoleText.secret.snippet}
        snippets={snippets}
        onClose={onClose}
      >
        <CreatedWebhook created={created} />
      </SecretDialog>
    );
  const isRefused = tested !== undefined && tested.result?.delivered !== true;
  const chats = [...store.byActivity.value, ...store.archived.value];
  const test = async (url: string) => {
    setTesting(true);
    try {
      const result = await client.webhooks.test({ url, secret });
      setTested({ url, result });
      return result.delivered;
    } catch (error) {
      // Without a result, too, it can be created.
      setTested({ url, result: undefined });
      throw error;
    } finally {
      setTesting(false);
    }
  };
  const create = async (fields: { readonly url: string; readonly events: string[] }) => {
    setNeedsPassword(false);
    if (tested === undefined && !(await test(fields.url))) return;
    const wide = { service_wide: true, include_direct: includesDirect };
    const scope = chat === service ? wide : chat === '' ? {} : { chat_id: Number(chat) };
    try {
      setCreated({ ...(await client.webhooks.register({ ...fields, secret, ...scope })), secret });
    } catch (error) {
      const isOldSession = chat === service && error instanceof ApiError && error.code === 'forbidden';
      if (!isOldSession) throw error;
      setNeedsPassword(true);
    }
  };
  return (
    <Dialog key="form" title={words.title} onClose={onClose}>
      <WebhookForm
        url=""
        events={['*']}
        act={isRefused ? words.anyway : words.act}
        // What was said about a URL holds until another one is typed.
        onUrl={() => setTested(undefined)}
        onSubmit={create}
        onCancel={onClose}
      >
        <label class="field">
          <span>{form.chat}</span>
          <select value={chat} onChange={(event) => setChat(event.currentTarget.value)}>
            <option value="">{form.allChats}</option>
            {store.me.is_admin && <option value={service}>{form.service}</option>}
            {chats.map((one) => (
              <option key={one.chat_id} value={one.chat_id}>
                {chatName(one)}
              </option>
            ))}
          </select>
        </label>
        {chat === service && <ServiceFields includesDirect={includesDirect} onChange={setIncludesDirect} />}
        <SecretField secret={secret} onChange={setSecret} />
        {needsPassword && <PasswordNeeded />}
        <div role="status" class="test-result">
          {isTesting && <p class="muted">{words.testing}</p>}
          {!isTesting && tested?.result && <Outcome result={tested.result} next={nexts} />}
          {isRefused && <Again onTest={() => test(tested.url)} />}
        </div>
      </WebhookForm>
    </Dialog>
  );
}

/** The endpoint cannot know the secret of a webhook that does not exist yet. */
const nexts = { signature: words.signature };

/** Tests the URL once more, after something was repaired. */
function Again({ onTest }: { onTest: () => Promise<unknown> }) {
  const { problem, submit, isBusy } = useSubmit({ labels: form.labels });
  return (
    <>
      <p class="muted">{words.anywayHint}</p>
      <Problem words={problem} />
      <div class="buttons">
        <button type="button" class="button quiet" disabled={isBusy} onClick={() => submit(onTest)}>
          {consoleText.test.again}
        </button>
      </div>
    </>
  );
}

interface ServiceFieldsProps {
  readonly includesDirect: boolean;
  readonly onChange: (includesDirect: boolean) => void;
}

const ServiceFields = ({ includesDirect, onChange }: ServiceFieldsProps) => (
  <div class="field">
    <p class="muted">{form.serviceHint}</p>
    <label class="check">
      <input
        type="checkbox"
        checked={includesDirect}
        aria-describedby="include-direct-hint"
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{form.includeDirect}</span>
    </label>
    <p id="include-direct-hint" class="muted">
      {form.includeDirectHint}
    </p>
  </div>
);

/** A new session is needed, which starts with the password. It opens beside the form, whose fields stay. */
const PasswordNeeded = () => (
  <div class="why" role="alert">
    <p>
      <strong>{words.password}</strong>
    </p>
    <p>
      <a href="/confirm-password?next=%2Fconsole%2Fwebhooks" target="_blank" rel="noreferrer">
        {words.enterPassword}
      </a>
      {'. '}
      {words.passwordHint}
    </p>
  </div>
);

function CreatedWebhook({ created: { webhook, warnings } }: { created: Created }) {
  return (
    <>
      <Warnings warnings={warnings} />
      <p class="muted">{words.thenTest}</p>
      <TestForm webhookId={webhook.webhook_id} />
      <p>
        <a href={webhookPath(webhook.webhook_id)}>{words.open}</a>
      </p>
    </>
  );
}

/** What the server accepted, though it is probably a mistake. */
function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <div class="why">
      <p>
        <strong>{words.warnings}</strong>
      </p>
      {warnings.map(({ field, message }) => (
        <p key={field}>{message}</p>
      ))}
    </div>
  );
}
