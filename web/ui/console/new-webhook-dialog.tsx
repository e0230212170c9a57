/** @jsxImportSource preact */
import { ApiError, type Webhook } from '@parley-chat/sdk';
import type { Warning } from '@parley-chat/sdk/operations.ts';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { webhookPath } from './filters.ts';
import { makeSecret, SecretField } from './secret.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { snippets } from './snippets.ts';
import { TestForm } from './test-dialog.tsx';
import { UrlTestResult, useUrlTest } from './url-test.tsx';
import { WebhookForm } from './webhook-form.tsx';

const words = consoleText.create;
const { form } = consoleText;

interface Created {
  readonly webhook: Webhook;
  readonly warnings: readonly Warning[];
  readonly secret: string;
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
  const step = useUrlTest('', (url) => client.webhooks.test({ url, secret }));
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
  const chats = [...store.byActivity.value, ...store.archived.value];
  const create = async (fields: { readonly url: string; readonly events: string[] }) => {
    setNeedsPassword(false);
    if (!step.tested && !(await step.test())) return;
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
        url={step.url}
        onUrl={step.change}
        events={['*']}
        act={step.isRefused ? words.anyway : words.act}
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
        <UrlTestResult step={step} hint={words.anywayHint} next={nexts} />
      </WebhookForm>
    </Dialog>
  );
}

/** The endpoint cannot know the secret of a webhook that does not exist yet. */
const nexts = { signature: words.signature };

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
      <TestForm webhook={webhook} />
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
