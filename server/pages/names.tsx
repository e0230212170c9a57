/** @jsxImportSource hono/jsx */
import type { UserRow } from '../store/access/users.ts';
import type { PageHead } from './site.tsx';

/** Isolates a name that may be written from right to left. In markup `bdi` does this, in titles these characters. */
const isolated = (name: string): string => `\u2068${name}\u2069`;

/** Returns a title and heading that contain a name. */
export const named = (name: string, before = '', after = ''): Pick<PageHead, 'title' | 'heading'> => ({
  title: `${before}${isolated(name)}${after}`,
  heading: (
    <>
      {before}
      <bdi>{name}</bdi>
      {after}
    </>
  ),
});

/** The name, and the display name if it differs. */
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
