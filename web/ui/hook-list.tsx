/** @jsxImportSource preact */
import type { Hook } from '@parley-chat/sdk/operations.ts';
import { useState } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import { hooksText as words } from '../text/hooks/text.ts';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { mayManage, useSession } from './context.ts';
import { IconButton } from './icon.tsx';
import { Problem, useSubmit } from './problem.tsx';
import { shortTime } from './time.ts';

const focus = (element: HTMLElement | null): void => element?.focus();

interface HookListProps {
  readonly chat: ChatRecord;
  readonly hooks: readonly Hook[];
  readonly onChange: () => void;
}

/** Lists the incoming webhooks of a chat, with a button to revoke those that the user may revoke. */
export function HookList({ chat, hooks, onChange }: HookListProps) {
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
