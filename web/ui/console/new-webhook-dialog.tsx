/** @jsxImportSource preact */
import type { Webhook } from '@parley-chat/sdk';
import type { Warning } from '@parley-chat/sdk/operations.ts';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { webhookPath } from './filters.ts';
import { makeSecret, SecretField, ShownSecret } from './secret.tsx';
import { TestResult } from './test-dialog.tsx';
import { WebhookForm } from './webhook-form.tsx';

const words = consoleText.create;

interface Created {
  readonly webhook: Webhook;
  readonly warnings: readonly Warning[];
  readonly secret: string;
}

/** Creates a webhook, shows its secret once, and offers a test. */
export function NewWebhookDialog({ onClose }: { onClose: () => void }) {
  const { client, store } = useSession();
  const [secret, setSecret] = useState(makeSecret);
  const [chatId, setChatId] = useState('');
  const [created, setCreated] = useState<Created | undefined>(undefined);
  if (created)
    return (
      <Dialog key="created" title={words.done} onClose={onClose}>
        <CreatedWebhook created={created} />
      </Dialog>
    );
  const chats = [...store.byActivity.value, ...store.archived.value];
  const create = async (form: { readonly url: string; readonly events: string[] }) => {
    const chat = chatId === '' ? {} : { chat_id: Number(chatId) };
    setCreated({ ...(await client.webhooks.register({ ...form, secret, ...chat })), secret });
  };
  return (
    <Dialog key="form" title={words.title} onClose={onClose}>
      <WebhookForm url="" events={['*']} act={words.act} onSubmit={create} onCancel={onClose}>
        <label class="field">
          <span>{consoleText.form.chat}</span>
          <select value={chatId} onChange={(event) => setChatId(event.currentTarget.value)}>
            <option value="">{consoleText.form.allChats}</option>
            {chats.map((chat) => (
              <option key={chat.chat_id} value={chat.chat_id}>
                {chatName(chat)}
              </option>
            ))}
          </select>
        </label>
        <SecretField secret={secret} onChange={setSecret} />
      </WebhookForm>
    </Dialog>
  );
}

function CreatedWebhook({ created: { webhook, warnings, secret } }: { created: Created }) {
  const [isTesting, setTesting] = useState(false);
  return (
    <>
      <p>{words.doneHint}</p>
      <Warnings warnings={warnings} />
      <ShownSecret secret={secret} />
      {isTesting ? (
        <TestResult webhookId={webhook.webhook_id} />
      ) : (
        <>
          <p class="muted">{words.thenTest}</p>
          <div class="buttons">
            <a class="button quiet" href={webhookPath(webhook.webhook_id)}>
              {words.open}
            </a>
            <button type="button" class="button" onClick={() => setTesting(true)}>
              {consoleText.webhook.test}
            </button>
          </div>
        </>
      )}
      {isTesting && (
        <div class="buttons">
          <a class="button quiet" href={webhookPath(webhook.webhook_id)}>
            {words.open}
          </a>
        </div>
      )}
    </>
  );
}

/** What the server accepted, though it is probably a mistake. */
export function Warnings({ warnings }: { warnings: readonly Warning[] }) {
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
