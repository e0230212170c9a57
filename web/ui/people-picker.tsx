/** @jsxImportSource preact */
import { useRef, useState } from 'preact/hooks';
import type { UserRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { Problem } from './problem.tsx';
import { usePeopleSearch } from './use-people-search.ts';

interface PickerProps {
  readonly chosen: readonly UserRecord[];
  readonly onChange: (chosen: readonly UserRecord[]) => void;
  readonly label?: string;
  /** Users that cannot be chosen. */
  readonly without?: ReadonlySet<number>;
}

/** Finds people and keeps those that were chosen. */
export function PeoplePicker({ chosen, onChange, label = text.peoplePicker.label, without }: PickerProps) {
  const { store } = useSession();
  const [query, setQuery] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const { found, problem, again } = usePeopleSearch(query);
  const isChosen = ({ user_id }: UserRecord) => chosen.some((user) => user.user_id === user_id);
  const offered = found?.filter((user) => !isChosen(user) && !without?.has(user.user_id)) ?? [];
  const choose = (user: UserRecord) => {
    store.putUsers([user]);
    onChange([...chosen, user]);
    setQuery('');
    field.current?.focus();
  };
  return (
    <div class="field">
      <label for="people">{label}</label>
      {chosen.length > 0 && (
        <div class="chips">
          {chosen.map((user) => (
            <button
              key={user.user_id}
              type="button"
              aria-label={text.common.remove(user.display_name)}
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
        placeholder={text.peoplePicker.find}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = offered;
          if (event.key !== 'Enter' || event.isComposing) return;
          event.preventDefault();
          if (first) choose(first);
        }}
      />
      <Problem words={problem} onRetry={again} />
      <ul class="person-list" aria-label={text.peoplePicker.found}>
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
      <p class="nobody" role="status">
        {found && offered.length === 0 && (found.length === 0 ? text.peoplePicker.none : text.peoplePicker.allChosen)}
      </p>
    </div>
  );
}
