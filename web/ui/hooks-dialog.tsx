/** @jsxImportSource preact */
import type { Hook } from '@parley-chat/sdk/operations.ts';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { copyText } from '../lib/copy-text.ts';
import { maxNameLength } from '../lib/limits.ts';
import { type ChatRecord, userRecord } from '../store/records.ts';
import { hooksText as words } from '../text/hooks/text.ts';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { mayManage, useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { Icon, IconButton } from './icon.tsx';
import { Problem, useLoading, useSubmit } from './problem.tsx';
import { pictureTypes, readPicture } from './settings/picture.ts';
import { shortTime } from './time.ts';
import './hooks-dialog.css';

const labels = { name: words.name };

interface Made {
  readonly hook: Hook;
  readonly url: string;
}

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

const focus = (element: HTMLElement | null): void => element?.focus();

interface HookListProps {
  readonly chat: ChatRecord;
  readonly hooks: readonly Hook[];
  readonly onChange: () => void;
}

function HookList({ chat, hooks, onChange }: HookListProps) {
  const { client, store } = useSession();
  const { problem, submit, isBusy } = useSubmit();
  const [asked, setAsked] = useState<Hook | undefined>(undefined);
  const revoke = async ({ hook_id }: Hook) => {
    await client.hooks.revoke({ hook_id });
    setAsked(undefined);
    onChange();
  };
  return (
    <>
      <ul class="person-list" aria-label={words.list}>
        {hooks.map((hook) => (
          <li key={hook.hook_id} class="person">
            <Avatar id={hook.bot.user_id} name={hook.bot.display_name} />
            <span class="who">
              <bdi>{hook.bot.display_name}</bdi>
              <span class="note">
                {words.facts(
                  <bdi>{store.user(hook.created_by)?.display_name}</bdi>,
                  hook.last_used_at === null ? undefined : shortTime(hook.last_used_at),
                )}
              </span>
              {!hook.active && <span class="note">{words.inactive}</span>}
            </span>
            {(hook.created_by === store.me.user_id || mayManage(chat)) && (
              <IconButton icon="close" label={words.revoke(hook.bot.display_name)} onClick={() => setAsked(hook)} />
            )}
          </li>
        ))}
      </ul>
      <Problem words={problem} />
      {asked && (
        <div class="question" key={asked.hook_id}>
          <p>{words.question(<bdi>{asked.bot.display_name}</bdi>)}</p>
          <div class="buttons">
            <button type="button" class="button quiet" ref={focus} onClick={() => setAsked(undefined)}>
              {text.common.cancel}
            </button>
            <button type="button" class="button danger" disabled={isBusy} onClick={() => submit(() => revoke(asked))}>
              {words.confirm}
            </button>
          </div>
        </div>
      )}
    </>
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

/** Returns a command that posts through a webhook. */
const commandFor = (url: string): string =>
  `curl -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ content: words.sample })}' \\\n${url}`;

/** The URL of a new webhook, which the server never shows again. */
function MadeHook({ made: { hook, url }, onDone }: { made: Made; onDone: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  // The form that had the focus is gone.
  useEffect(() => field.current?.focus(), []);
  const command = commandFor(url);
  return (
    <>
      <p>{words.made(<bdi>{hook.bot.display_name}</bdi>)}</p>
      <div class="field">
        <label for="hook-url">{words.url}</label>
        <div class="link">
          <input
            ref={field}
            id="hook-url"
            type="text"
            readOnly
            value={url}
            onFocus={(event) => event.currentTarget.select()}
          />
          <Copy copied={url} label={words.copyUrl} />
        </div>
      </div>
      <div class="field">
        <div class="snippet">
          {words.tryIt}
          <Copy copied={command} label={words.copySnippet} />
        </div>
        <pre>{command}</pre>
      </div>
      <Picture hook={hook} />
      <div class="buttons">
        <button type="button" class="button" onClick={onDone}>
          {words.done}
        </button>
      </div>
    </>
  );
}

function Copy({ copied, label }: { copied: string; label: string }) {
  const [isDone, setDone] = useState(false);
  return (
    <button
      type="button"
      class="button quiet"
      aria-label={isDone ? undefined : label}
      onClick={({ currentTarget }) => setDone(copyText(copied, currentTarget.parentElement ?? undefined))}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      {isDone ? words.copied : words.copy}
    </button>
  );
}

/** Gives the bot a picture. */
function Picture({ hook: { bot } }: { hook: Hook }) {
  const { client, store } = useSession();
  const picker = useRef<HTMLInputElement>(null);
  const [notice, setNotice] = useState('');
  const { problem, submit, isBusy, fail } = useSubmit({ labels: { file: words.pictureFile } });
  const choose = (file: File) =>
    submit(async () => {
      const read = await readPicture(file);
      if (typeof read === 'string') return fail(words.pictureBad);
      URL.revokeObjectURL(read.url);
      const { user } = await client.users.setAvatar({ user_id: bot.user_id, file: read.file });
      store.putUsers([userRecord(user)]);
      setNotice(words.pictureSaved);
    });
  return (
    <div class="person">
      <Avatar id={bot.user_id} name={bot.display_name} />
      <span class="who" role="status">
        {notice}
      </span>
      <input
        ref={picker}
        type="file"
        hidden
        accept={pictureTypes.join()}
        aria-label={words.pictureFile}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) choose(file);
          currentTarget.value = '';
        }}
      />
      <button type="button" class="button quiet" disabled={isBusy} onClick={() => picker.current?.click()}>
        {words.picture}
      </button>
      <Problem words={problem} />
    </div>
  );
}
