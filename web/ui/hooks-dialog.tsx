/** @jsxImportSource preact */
import type { Hook } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { maxNameLength } from '../lib/limits.ts';
import { type ChatRecord, userRecord } from '../store/records.ts';
import { hooksText as words } from '../text/hooks/text.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { HookList } from './hook-list.tsx';
import { type Made, MadeHook } from './made-hook.tsx';
import { Problem, useLoading, useSubmit } from './problem.tsx';
import './hooks-dialog.css';

const labels = { name: words.name };

/** Creates, lists and revokes the incoming webhooks of a chat. */
export function HooksDialog({ chat, onClose }: { chat: ChatRecord; onClose: () => void }) {
  const { client, store } = useSession();
  const [hooks, setHooks] = useState<readonly Hook[]>([]);
  const [made, setMade] = useState<Made | undefined>(undefined);
  const { chat_id } = chat;
  const load = useCallback(async () => {
    const loaded = await client.hooks.list({ chat_id });
    store.putUsers(loaded.hooks.map(({ bot }) => userRecord(bot)));
    setHooks(loaded.hooks);
  }, [client, store, chat_id]);
  const { problem, again, run } = useLoading(words.failed, load);
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div class="hooks-dialog">
        {made ? (
          <MadeHook
            made={made}
            onDone={() => {
              setMade(undefined);
              run(load);
            }}
          />
        ) : (
          <>
            <p class="muted">
              {words.about((said) => (
                <a href="/docs/guides/incoming-webhooks" onClick={onClose}>
                  {said}
                </a>
              ))}
            </p>
            <Problem words={problem} onRetry={again} />
            <HookList chat={chat} hooks={hooks} onChange={() => run(load)} />
            <NewHookForm chatId={chat_id} onMade={setMade} />
          </>
        )}
      </div>
    </Dialog>
  );
}

interface NewHookFormProps {
  readonly chatId: number;
  readonly onMade: (made: Made) => void;
}

function NewHookForm({ chatId, onMade }: NewHookFormProps) {
  const { client } = useSession();
  const [name, setName] = useState('');
  const { problem, submit, isBusy } = useSubmit({ labels });
  return (
    <form
      class="hooks-dialog"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) submit(async () => onMade(await client.hooks.create({ chat_id: chatId, name: name.trim() })));
      }}
    >
      <div class="field">
        <label for="hook-name">{words.name}</label>
        <input
          id="hook-name"
          type="text"
          required
          autofocus
          dir="auto"
          autocomplete="off"
          maxLength={maxNameLength}
          placeholder={words.nameExample}
          aria-describedby="hook-name-hint"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <p id="hook-name-hint" class="muted">
          {words.nameHint}
        </p>
      </div>
      <Problem words={problem} />
      <div class="buttons">
        <button type="submit" class="button" disabled={isBusy}>
          {words.create}
        </button>
      </div>
    </form>
  );
}
