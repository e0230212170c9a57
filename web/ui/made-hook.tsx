/** @jsxImportSource preact */
import type { Hook } from '@parley-chat/sdk/operations.ts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText } from '../lib/copy-text.ts';
import { userRecord } from '../store/records.ts';
import { hooksText as words } from '../text/hooks/text.ts';
import { Avatar } from './avatar.tsx';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { Problem, useSubmit } from './problem.tsx';
import { pictureTypes, readPicture } from './settings/picture.ts';

/** A new webhook, with its secret URL. */
export interface Made {
  readonly hook: Hook;
  readonly url: string;
}

/** Returns a command that posts through a webhook. */
const commandFor = (url: string): string =>
  `curl -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ content: words.sample })}' \\\n${url}`;

/** The URL of a new webhook, which the server never shows again. */
export function MadeHook({ made: { hook, url }, onDone }: { made: Made; onDone: () => void }) {
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
