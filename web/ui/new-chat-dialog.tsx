/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import type { UserRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { PeoplePicker } from './people-picker.tsx';
import { Problem, useSubmit } from './problem.tsx';
import { chatPath, navigate } from './route.ts';

const { kinds } = text.newChat;
type Kind = keyof typeof kinds;

/** Starts a direct chat, a group or a channel. */
export function NewChatDialog({ kind: asked = 'direct', onClose }: { kind?: Kind | undefined; onClose: () => void }) {
  const { client, loader } = useSession();
  const [kind, setKind] = useState<Kind>(asked);
  const [people, setPeople] = useState<readonly UserRecord[]>([]);
  const [name, setName] = useState('');
  const [isPrivate, setPrivate] = useState(false);
  const { problem, submit, isBusy } = useSubmit();
  const { title, act } = kinds[kind];
  const isReady = kind === 'direct' ? people.length === 1 : name.trim() !== '';

  const make = async () => {
    const participants = people.map(({ user_id }) => user_id);
    if (kind === 'group') return (await client.chats.createGroup({ name, participants })).group;
    if (kind === 'direct') return (await client.chats.createDirect({ user_id: participants[0] ?? 0 })).chat;
    const visibility = isPrivate ? 'private' : 'public';
    return (await client.chats.createChannel({ name, participants, visibility })).channel;
  };
  const start = async () => {
    const chat = loader.putChat(await make());
    onClose();
    navigate(chatPath(chat.chat_id));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isBusy) submit(start);
        }}
      >
        <fieldset class="choices">
          <legend class="unseen">{text.newChat.kind}</legend>
          {(Object.keys(kinds) as Kind[]).map((one) => (
            <label key={one}>
              <input type="radio" name="kind" checked={one === kind} onChange={() => setKind(one)} />
              {kinds[one].label}
            </label>
          ))}
        </fieldset>
        {kind !== 'direct' && (
          <label class="field">
            <span>{text.newChat.name}</span>
            <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        {kind === 'channel' && (
          <label class="check">
            <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.currentTarget.checked)} />
            {text.newChat.private}
          </label>
        )}
        <PeoplePicker chosen={people} onChange={(chosen) => setPeople(kind === 'direct' ? chosen.slice(-1) : chosen)} />
        <Problem words={problem} />
        <div class="buttons">
          <button type="submit" class="button" disabled={!isReady || isBusy}>
            {act}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
