/** @jsxImportSource preact */
import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  CalendarDays,
  Check,
  Compass,
  Copy,
  Download,
  File,
  Hash,
  type IconNode,
  Link2,
  LogOut,
  Megaphone,
  Paperclip,
  Pencil,
  Plus,
  Reply,
  RotateCw,
  Search,
  SendHorizontal,
  Settings,
  Smile,
  Trash2,
  User,
  Users,
  X,
} from 'lucide';
import { h } from 'preact';
import './button.css';

const icons = {
  attach: Paperclip,
  back: ArrowLeft,
  browse: Compass,
  calendar: CalendarDays,
  channel: Megaphone,
  check: Check,
  close: X,
  copy: Copy,
  down: ArrowDown,
  download: Download,
  edit: Pencil,
  file: File,
  group: Hash,
  link: Link2,
  next: ArrowRight,
  person: User,
  people: Users,
  plus: Plus,
  react: Smile,
  remove: Trash2,
  reply: Reply,
  retry: RotateCw,
  search: Search,
  send: SendHorizontal,
  settings: Settings,
  signOut: LogOut,
} as const satisfies Readonly<Record<string, IconNode>>;

export type IconName = keyof typeof icons;

/** A picture beside words. Screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {icons[name].map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** What it does. */
  readonly label: string;
  readonly onClick: () => void;
  readonly isExpanded?: boolean;
}

export function IconButton({ icon, label, onClick, isExpanded }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-expanded={isExpanded}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
