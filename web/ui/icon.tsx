/** @jsxImportSource preact */
import {
  Archive,
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  BellOff,
  CalendarDays,
  Check,
  Clock,
  Compass,
  Copy,
  Download,
  Ellipsis,
  File,
  Hash,
  type IconNode,
  Link2,
  LogOut,
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
  UserPlus,
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
  channel: Hash,
  check: Check,
  clock: Clock,
  invite: UserPlus,
  close: X,
  copy: Copy,
  down: ArrowDown,
  download: Download,
  edit: Pencil,
  file: File,
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

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The data of a path that draws the same as a shape. */
const pathData: Readonly<Record<string, (attributes: Attributes) => string>> = {
  // The first step of a path may be relative: to the corner.
  path: ({ d }) => `M0 0${d}`,
  line: ({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`,
  circle: ({ cx, cy, r }) =>
    `M${Number(cx) - Number(r)} ${cy}a${r} ${r} 0 1 0 ${2 * Number(r)} 0a${r} ${r} 0 1 0 ${-2 * Number(r)} 0`,
};

/** Returns the shapes of an icon, as few as possible: a list that is scrolled shows many icons. */
function shapesOf(nodes: IconNode) {
  const d = nodes.map(([tag, attributes]) => pathData[tag]?.(attributes) ?? '').join('');
  const others = nodes.filter(([tag]) => pathData[tag] === undefined);
  return [h('path', { d }), ...others.map(([tag, attributes]) => h(tag, attributes))];
}

const shapes = Object.fromEntries(Object.entries(icons).map(([name, nodes]) => [name, shapesOf(nodes)]));

/** A picture beside words. Screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {shapes[name]}
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
