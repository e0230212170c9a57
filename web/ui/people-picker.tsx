/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { UserRecord } from '../store/records.ts';
import { Avatar } from './avatar.tsx';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';

const searchDelayMs = 150;
const maxFound = 20;

interface PickerProps {
  readonly chosen: readonly UserRecord[];
  readonly onChange: (chosen: readonly UserRecord[]) => void;
  /** Users that cannot be chosen. */
  readonly without?: ReadonlySet<number>;
}

/** Finds people and keeps those that were chosen. */
export function PeoplePicker({ chosen, onChange, without }: PickerProps) {
  const { client, store, report } = useSession();
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<readonly UserRecord[]>([]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setFound([]);
    if (query.trim() === '') return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      client.users.search({ query, limit: maxFound }).then(({ users }) => isCurrent && setFound(users), report);
    }, searchDelayMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, client, report]);
  const isChosen = ({ user_id }: UserRecord) => chosen.some((user) => user.user_id === user_id);
  const offered = found.filter(
    (user) => user.user_id !== store.me.user_id && !isChosen(user) && !without?.has(user.user_id),
  );
  const choose = (user: UserRecord) => {
    store.putUsers([user]);
    onChange([...chosen, user]);
    setQuery('');
    field.current?.focus();
  };
  return (
    <div class="field">
      <label for="people">People</label>
      {chosen.length > 0 && (
        <div class="chips">
          {chosen.map((user) => (
            <button
              key={user.user_id}
              type="button"
              aria-label={`Remove ${user.display_name}`}
              onClick={() => onChange(chosen.filter(({ user_id }) => user_id !== user.user_id))}
            >
              <bdi>{user.display_name}</bdi>
              <Icon name="close" />
            </button>
          ))}
        </div>
      )}
      <input
        id="people"
        ref={field}
        type="text"
        autofocus
        autocomplete="off"
        placeholder="Find by name"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = offered;
          if (event.key !== 'Enter' || event.isComposing) return;
          event.preventDefault();
          if (first) choose(first);
        }}
      />
      <ul class="person-list" aria-label="People found">
        {offered.map((user) => (
          <li key={user.user_id}>
            <button type="button" class="person" onClick={() => choose(user)}>
              <Avatar id={user.user_id} name={user.display_name} />
              <bdi class="who">{user.display_name}</bdi>
              <span class="note">@{user.name}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
