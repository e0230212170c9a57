import { useCallback, useState } from 'preact/hooks';
import type { UserRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { type Attempts, useLoading } from './problem.tsx';
import { useDelayed } from './use-delayed.ts';

const maxFound = 20;

interface PeopleSearch extends Pick<Attempts, 'problem' | 'again'> {
  /** The other people with such a name. Undefined until the server has responded. */
  readonly found: readonly UserRecord[] | undefined;
}

/** Finds people by name while somebody types. An empty query finds nobody. */
export function usePeopleSearch(typed: string): PeopleSearch {
  const { client, store } = useSession();
  const query = useDelayed(typed.trim());
  const [result, setResult] = useState<{ readonly query: string; readonly users: readonly UserRecord[] }>();
  const load = useCallback(async () => {
    if (query === '') return;
    const { users } = await client.users.search({ query, limit: maxFound });
    setResult({ query, users: users.filter(({ user_id }) => user_id !== store.me.user_id) });
  }, [query, client, store]);
  const { problem, again } = useLoading(text.peoplePicker.failed, load);
  // What was found for other words is not shown.
  return { found: result?.query === typed.trim() ? result.users : undefined, problem, again };
}
