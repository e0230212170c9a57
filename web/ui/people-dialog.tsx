/** @jsxImportSource preact */
import type { Participant } from '@parley-chat/sdk';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { ChatRecord, UserRecord } from '../store/records.ts';
import { Avatar } from './avatar.tsx';
import { mayManage, useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { IconButton } from './icon.tsx';
import { PeoplePicker } from './people-picker.tsx';
import { navigate } from './route.ts';

const roles = { owner: 'Owner', admin: 'Admin', member: 'Member' } as const;
type Role = keyof typeof roles;

/** The participants of a chat and their roles. */
export function PeopleDialog({ chat, onClose }: { chat: ChatRecord; onClose: () => void }) {
  const { client, loader, store } = useSession();
  const [people, setPeople] = useState<readonly Participant[]>([]);
  const [added, setAdded] = useState<readonly UserRecord[]>([]);
  const [problem, setProblem] = useState('');
  const { chat_id } = chat;
  const attempt = useCallback(async (act: () => Promise<unknown>) => {
    try {
      await act();
      setProblem('');
    } catch (error) {
      setProblem((error as Error).message);
    }
  }, []);
  const load = useCallback(async () => setPeople(await loader.participants(chat_id)), [loader, chat_id]);
  useEffect(() => void attempt(load), [attempt, load]);
  const change = (act: () => Promise<unknown>) =>
    void attempt(async () => {
      await act();
      await load();
    });
  const add = () =>
    change(async () => {
      await client.chats.addParticipants({ chat_id, participants: added.map(({ user_id }) => user_id) });
      setAdded([]);
    });
  const leave = () =>
    void attempt(async () => {
      await client.chats.leave({ chat_id });
      store.removeChat(chat_id);
      navigate('/');
    });
  const isManager = mayManage(chat);
  return (
    <Dialog title="People" onClose={onClose}>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <ul class="person-list" aria-label="Participants">
        {people.map(({ user_id, display_name, name, role }) => (
          <li key={user_id} class="person">
            <Avatar id={user_id} name={display_name} />
            <span class="who">
              <bdi>{display_name}</bdi>
              <span class="note">@{name}</span>
            </span>
            {chat.role === 'owner' && user_id !== store.me.user_id ? (
              <select
                aria-label={`Role of ${display_name}`}
                value={role}
                onChange={(event) => {
                  const chosen = event.currentTarget.value as Role;
                  change(() => client.chats.setRole({ chat_id, user_id, role: chosen }));
                }}
              >
                {(Object.keys(roles) as Role[]).map((one) => (
                  <option key={one} value={one}>
                    {roles[one]}
                  </option>
                ))}
              </select>
            ) : (
              role !== 'member' && <span class="note">{roles[role]}</span>
            )}
            {isManager && role !== 'owner' && user_id !== store.me.user_id && (
              <IconButton
                icon="close"
                label={`Remove ${display_name}`}
                onClick={() => change(() => client.chats.removeParticipant({ chat_id, user_id }))}
              />
            )}
          </li>
        ))}
      </ul>
      {isManager && (
        <>
          <PeoplePicker chosen={added} onChange={setAdded} without={new Set(people.map(({ user_id }) => user_id))} />
          <div class="buttons">
            <button type="button" class="button" disabled={added.length === 0} onClick={add}>
              Add people
            </button>
          </div>
        </>
      )}
      <div class="buttons">
        <button type="button" class="button quiet" onClick={leave}>
          Leave the chat
        </button>
      </div>
    </Dialog>
  );
}
