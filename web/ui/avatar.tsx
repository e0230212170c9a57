/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useSession } from './context.ts';
import { Icon, type IconName } from './icon.tsx';
import './avatar.css';

const hues = 8;

/** Returns the first letters of the first and the last word. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase();
}

/** Returns the path of a picture on this host: its URL may name another one that the server is known by. */
function picturePath(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}&size=64`;
}

interface AvatarProps {
  readonly id: number;
  readonly name: string;
  /** Of a chat. A person has a picture or initials. */
  readonly icon?: IconName;
  readonly isSmall?: boolean;
  readonly children?: ComponentChildren;
}

/** A picture for a person or a chat: their own, their initials, or an icon, in a colour of its own. */
export function Avatar({ id, name, icon, isSmall, children }: AvatarProps) {
  return (
    <span class={`avatar hue-${(id * 5) % hues}${isSmall ? ' small' : ''}`} aria-hidden="true">
      {icon ? <Icon name={icon} /> : <Face id={id} name={name} />}
      {children}
    </span>
  );
}

function Face({ id, name }: { id: number; name: string }) {
  const url = useSession().store.user(id)?.avatar_url;
  return url ? <img src={picturePath(url)} alt="" width="64" height="64" /> : <span>{initialsOf(name)}</span>;
}
