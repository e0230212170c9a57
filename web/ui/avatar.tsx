/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useSession } from './context.ts';
import { Icon, type IconName } from './icon.tsx';
import './avatar.css';

const hues = 8;

/** Returns the first letters of the first and the last word. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase();
}

/** Returns the path of a picture on this host: its URL may name another one that the server is known by. */
function picturePath(url: string, pixels: 64 | 256): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}&size=${pixels}`;
}

interface AvatarProps {
  readonly id: number;
  readonly name: string;
  /** Of a chat. A person has a picture or initials. */
  readonly icon?: IconName;
  readonly isSmall?: boolean;
  readonly isLarge?: boolean;
  readonly children?: ComponentChildren;
}

/** A picture for a person or a chat: their own, their initials, or an icon, in a colour of its own. */
export function Avatar({ id, name, icon, isSmall, isLarge, children }: AvatarProps) {
  const size = isSmall ? ' small' : isLarge ? ' large' : '';
  return (
    <span class={`avatar hue-${(id * 5) % hues}${size}${icon ? '' : ' round'}`} aria-hidden="true">
      {icon ? <Icon name={icon} /> : <Face id={id} name={name} pixels={isLarge ? 256 : 64} />}
      {children}
    </span>
  );
}

function Face({ id, name, pixels }: { id: number; name: string; pixels: 64 | 256 }) {
  const { store } = useSession();
  const url = store.user(id)?.avatar_url;
  const [broken, setBroken] = useState<{ readonly url: string; readonly connection: string } | undefined>(undefined);
  // A picture that could not be loaded is tried again when the connection is another.
  if (!url || (broken?.url === url && broken.connection === store.connection.value))
    return <span>{initialsOf(name)}</span>;
  const onError = () => setBroken({ url, connection: store.connection.peek() });
  return <img src={picturePath(url, pixels)} alt="" width={pixels} height={pixels} onError={onError} />;
}
