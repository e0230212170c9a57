/** @jsxImportSource hono/jsx */
import type { UserRow } from '../store/users.ts';
import type { PageHead } from './site.tsx';

/**
 * Names may be written from right to left, and then draw what stands beside them along. So each stands apart: in `bdi`, and
 * where there can be no markup between the characters that mean the same.
 */
const apart = (name: string): string => `\u2068${name}\u2069`;

/** The title of a page that somebody's name stands in. */
export const named = (name: string, before = '', after = ''): Pick<PageHead, 'title' | 'heading'> => ({
  title: `${before}${apart(name)}${after}`,
  heading: (
    <>
      {before}
      <bdi>{name}</bdi>
      {after}
    </>
  ),
});

/** Somebody's name, and the other one where there is another. */
export function FullName({ user }: { user: UserRow }) {
  return (
    <>
      <bdi class="name">{user.name}</bdi>
      {user.display_name !== user.name && (
        <>
          {' '}
          (<bdi>{user.display_name}</bdi>)
        </>
      )}
    </>
  );
}
