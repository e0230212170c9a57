/** @jsxImportSource preact */
import { Icon, type IconName } from './icon.tsx';
import './avatar.css';

const hues = 8;

/** Returns the first letters of the first and the last word. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toUpperCase();
}

/** A picture for a person or a chat: its initials or an icon, in a colour of its own. */
export function Avatar({ id, name, icon, isSmall }: { id: number; name: string; icon?: IconName; isSmall?: boolean }) {
  return (
    <span class={`avatar hue-${(id * 5) % hues}${isSmall ? ' small' : ''}`} aria-hidden="true">
      {icon ? <Icon name={icon} /> : initialsOf(name)}
    </span>
  );
}
