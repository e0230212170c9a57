/** @jsxImportSource preact */
import {
  Archive,
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  BellOff,
  CalendarDays,
  Check,
  Compass,
  Copy,
  Download,
  Ellipsis,
  File,
  Hash,
  type IconNode,
  Link2,
  LogOut,
  Megaphone,
  MessagesSquare,
  Paperclip,
  Pencil,
  Pin,
  PinOff,
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
  archive: Archive,
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
  more: Ellipsis,
  muted: BellOff,
  next: ArrowRight,
  person: User,
  people: Users,
  pin: Pin,
  plus: Plus,
  react: Smile,
  remove: Trash2,
  reply: Reply,
  retry: RotateCw,
  search: Search,
  send: SendHorizontal,
  settings: Settings,
  signOut: LogOut,
  thread: MessagesSquare,
  unpin: PinOff,
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
