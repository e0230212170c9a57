/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import type { UserRecord } from '../store/records.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { PeoplePicker } from './people-picker.tsx';
import { chatPath, navigate } from './route.ts';

const kinds = {
  direct: { label: 'Direct', title: 'New direct chat', act: 'Start the chat' },
  group: { label: 'Group', title: 'New group', act: 'Create the group' },
  channel: { label: 'Channel', title: 'New channel', act: 'Create the channel' },
} as const;

type Kind = keyof typeof kinds;

/** Starts a direct chat, a group or a channel. */
export function NewChatDialog({ onClose }: { onClose: () => void }) {
  const { client, loader } = useSession();
  const [kind, setKind] = useState<Kind>('direct');
  const [people, setPeople] = useState<readonly UserRecord[]>([]);
  const [name, setName] = useState('');
  const [isPrivate, setPrivate] = useState(false);
  const [problem, setProblem] = useState('');
  const { title, act } = kinds[kind];
  const isReady = kind === 'direct' ? people.length === 1 : name.trim() !== '';

  const make = async () => {
    const participants = people.map(({ user_id }) => user_id);
    if (kind === 'group') return (await client.chats.createGroup({ name, participants })).group;
    if (kind === 'direct') return (await client.chats.createDirect({ user_id: participants[0] ?? 0 })).chat;
    const visibility = isPrivate ? 'private' : 'public';
    return (await client.chats.createChannel({ name, participants, visibility })).channel;
  };
  const submit = async () => {
    if (!isReady) return;
    try {
      const chat = loader.putChat(await make());
      onClose();
      navigate(chatPath(chat.chat_id));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <fieldset class="choices">
          <legend class="unseen">Kind of chat</legend>
          {(Object.keys(kinds) as Kind[]).map((one) => (
            <label key={one}>
              <input type="radio" name="kind" checked={one === kind} onChange={() => setKind(one)} />
              {kinds[one].label}
            </label>
          ))}
        </fieldset>
        {kind !== 'direct' && (
          <label class="field">
            <span>Name</span>
            <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        {kind === 'channel' && (
          <label class="check">
            <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.currentTarget.checked)} />
            Private: only people who are added can read it
          </label>
        )}
        <PeoplePicker chosen={people} onChange={(chosen) => setPeople(kind === 'direct' ? chosen.slice(-1) : chosen)} />
        {problem !== '' && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="button" disabled={!isReady}>
            {act}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
