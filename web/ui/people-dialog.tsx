/** @jsxImportSource preact */
import type { Participant } from '@parley-chat/sdk';
import { useCallback, useState } from 'preact/hooks';
import type { ChatRecord, UserRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { mayManage, useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { IconButton } from './icon.tsx';
import { PeoplePicker } from './people-picker.tsx';
import { Problem, useLoading, useSubmit } from './problem.tsx';
import { navigate } from './route.ts';

const { roles } = text.people;
type Role = keyof typeof roles;

/** What is asked about a participant before it is done. */
interface Question {
  readonly act: keyof typeof text.people.questions;
  readonly userId: number;
}

const focus = (element: HTMLElement | null): void => element?.focus();

/** The participants of a chat and their roles. */
export function PeopleDialog({ chat, onClose }: { chat: ChatRecord; onClose: () => void }) {
  const { client, loader, store } = useSession();
  const [people, setPeople] = useState<readonly Participant[]>([]);
  const [added, setAdded] = useState<readonly UserRecord[]>([]);
  const { problem, submit } = useSubmit();
  const { chat_id } = chat;
  const load = useCallback(async () => setPeople(await loader.participants(chat_id)), [loader, chat_id]);
  const loading = useLoading(text.people.failed, load);
  const change = (act: () => Promise<unknown>) =>
    submit(async () => {
      await act();
      await load();
    });
  const add = () =>
    change(async () => {
      await client.chats.addParticipants({ chat_id, participants: added.map(({ user_id }) => user_id) });
      setAdded([]);
    });
  const [isLeaving, setLeaving] = useState(false);
  const leave = () =>
    submit(async () => {
      await client.chats.leave({ chat_id });
      navigate('/');
      store.removeChat(chat_id);
    });
  const isManager = mayManage(chat);
  const [question, setQuestion] = useState<Question | undefined>(undefined);
  const asked = people.find(({ user_id }) => user_id === question?.userId);
  const closeQuestion = () => setQuestion(undefined);
  const carryOut = {
    owner: (user_id: number) => client.chats.setRole({ chat_id, user_id, role: 'owner' }),
    remove: (user_id: number) => client.chats.removeParticipant({ chat_id, user_id }),
  };
  return (
    <Dialog title={text.people.title} onClose={onClose}>
      <Problem words={loading.problem} onRetry={loading.again} />
      <Problem words={problem} />
      <ul class="person-list" aria-label={text.people.participants}>
        {people.map(({ user_id, display_name, name, role }) => (
          <li key={user_id} class="person">
            <Avatar id={user_id} name={display_name} />
            <span class="who">
              <bdi>{display_name}</bdi>
              <span class="note">@{name}</span>
            </span>
            {chat.role === 'owner' && user_id !== store.me.user_id ? (
              <select
                aria-label={text.people.role(display_name)}
                value={role}
                onChange={({ currentTarget }) => {
                  const chosen = currentTarget.value as Role;
                  if (chosen !== 'owner') return change(() => client.chats.setRole({ chat_id, user_id, role: chosen }));
                  // An arrow key is enough to choose it, and a new owner can take the user's own role away.
                  currentTarget.value = role;
                  setQuestion({ act: 'owner', userId: user_id });
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
                label={text.common.remove(display_name)}
                onClick={() => setQuestion({ act: 'remove', userId: user_id })}
              />
            )}
          </li>
        ))}
      </ul>
      {question && asked && (
        <div class="question" key={`${question.act} ${asked.user_id}`}>
          <p>{text.people.questions[question.act].question(<bdi>{asked.display_name}</bdi>)}</p>
          <div class="buttons">
            <button type="button" class="button quiet" ref={focus} onClick={closeQuestion}>
              {text.common.cancel}
            </button>
            <button
              type="button"
              class="button danger"
              onClick={() =>
                change(async () => {
                  await carryOut[question.act](asked.user_id);
                  closeQuestion();
                })
              }
            >
              {text.people.questions[question.act].confirm}
            </button>
          </div>
        </div>
      )}
      {isManager && (
        <>
          <PeoplePicker
            label={text.people.toAdd}
            chosen={added}
            onChange={setAdded}
            without={new Set(people.map(({ user_id }) => user_id))}
          />
          <div class="buttons">
            <button type="button" class="button" disabled={added.length === 0} onClick={add}>
              {text.people.add}
            </button>
          </div>
        </>
      )}
      {isLeaving ? (
        <>
          <p>{chat.visibility === 'public' ? text.people.leavePublic : text.people.leavePrivate}</p>
          <div class="buttons">
            <button type="button" class="button quiet" onClick={() => setLeaving(false)}>
              {text.people.stay}
            </button>
            <button type="button" class="button danger" onClick={leave}>
              {text.people.leave}
            </button>
          </div>
        </>
      ) : (
        <div class="buttons apart">
          <button type="button" class="button quiet" onClick={() => setLeaving(true)}>
            {text.people.leaveChat}
          </button>
        </div>
      )}
    </Dialog>
  );
}
