/** @jsxImportSource hono/jsx */
import type { Scope } from '@parley/contract';
import type { Child } from 'hono/jsx';
import type { UserRow } from '../store/access/users.ts';
import type { PageHead } from './layout.tsx';
import { text } from './text/text.ts';

const words = text.common;

interface CardProps {
  readonly title: Child;
  /** Highlights a secret that was just created. */
  readonly isFresh?: boolean;
  readonly children?: Child;
}

export function Card({ title, isFresh, children }: CardProps) {
  return (
    <section class={isFresh ? 'card fresh' : 'card'}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** A notice above the page. Screen readers announce a bad one at once. */
export function Notice({ kind, id, children }: { kind: 'good' | 'bad'; id?: string; children?: Child }) {
  return (
    <div id={id} class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <p>{children}</p>
    </div>
  );
}

/** A secret, shown once. Browsers select it as a whole. */
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div class="field secret">
      <label for="secret">{label}</label>
      <textarea id="secret" rows={3} readonly autofocus spellcheck={false}>
        {value}
      </textarea>
      <p class="hint">{words.secretHint}</p>
    </div>
  );
}

/** The subject of a button, for screen readers. */
export const About = ({ name }: { name: string }) => <span class="unseen">{words.subject(<bdi>{name}</bdi>)}</span>;

interface ConfirmProps {
  readonly label: string;
  /** The subject, for screen readers. */
  readonly about?: string;
  readonly action: string;
  readonly children?: Child;
}

/** A button with a confirmation step that needs no script. */
export function Confirm({ label, about, action, children }: ConfirmProps) {
  return (
    <details class="confirm">
      <summary class="button quiet">
        <span class="shut">
          {words.asks(
            <>
              {label}
              {about && <About name={about} />}
            </>,
          )}
        </span>
        <span class="open">{words.cancel}</span>
      </summary>
      <form method="post" action={action}>
        {children}
        <button type="submit" class="danger">
          {label}
        </button>
      </form>
    </details>
  );
}

/** Values by label. Undefined ones are left out. */
type FactList = Readonly<Record<string, Child | undefined>>;

/** A list of labels and values. */
export function Facts({ facts, isSmall }: { facts: FactList; isSmall?: boolean }) {
  return (
    <dl class={isSmall ? 'facts' : undefined}>
      {Object.entries(facts).map(
        ([label, fact]) =>
          fact !== undefined && (
            <div>
              <dt>{label}</dt>
              <dd>{fact}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A list of `Item`s, or the text `none`. */
export function Items({ items, none }: { items: readonly Child[]; none: string }) {
  return items.length === 0 ? <p class="muted">{none}</p> : <ul class="items">{items}</ul>;
}

interface ItemProps {
  readonly heading: Child;
  readonly facts: FactList;
  readonly action?: Child;
  readonly children?: Child;
}

export function Item({ heading, facts, action, children }: ItemProps) {
  return (
    <li>
      <div>
        <h3>{heading}</h3>
        {children}
        <Facts isSmall facts={facts} />
      </div>
      {action}
    </li>
  );
}

export function ScopeList({ scopes }: { scopes: readonly Scope[] }) {
  return (
    <ul class="scopes">
      {scopes.map((scope) => (
        <li class={scope === 'admin' ? 'grave' : undefined}>{words.scopes[scope]}</li>
      ))}
    </ul>
  );
}

/**
 * Returns a title and heading that contain a name. Isolates a name that may be written from right to left: in markup with `bdi`, in
 * the title with characters.
 */
export function named(
  name: string,
  sentence: (name: string) => string = (name) => name,
): Pick<PageHead, 'title' | 'heading'> {
  // The character stands for the name, which may contain anything itself.
  const [before, after] = sentence('\u2068').split('\u2068');
  return {
    title: sentence(`\u2068${name}\u2069`),
    heading: (
      <>
        {before}
        <bdi>{name}</bdi>
        {after}
      </>
    ),
  };
}

export const NameLink = ({ href, name }: { href: string; name: string }) => (
  <a href={href}>
    <bdi>{name}</bdi>
  </a>
);

/** The name, and the display name if it differs. */
export function FullName({ user }: { user: UserRow }) {
  const name = <bdi class="name">{user.name}</bdi>;
  if (user.display_name === user.name) return name;
  return <>{words.fullName({ name, displayName: <bdi>{user.display_name}</bdi> })}</>;
}
