/** @jsxImportSource hono/jsx */
import { type Scope, scopes as scopeWords } from '@parley/contract';
import type { Child } from 'hono/jsx';
import type { Faults } from './form.ts';

/** The pieces that pages are made of. */

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'password' | 'url';
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly faults?: Faults | undefined;
  readonly autocomplete?: string;
  readonly autofocus?: boolean | undefined;
  readonly optional?: boolean;
  /** Where people write words, and not names that programs know them by. */
  readonly words?: boolean;
  /** The id of what else is said about it, such as a notice. */
  readonly describedBy?: string | undefined;
}

/** A field with its label, and what is wrong with what was typed. */
export function Field(props: FieldProps) {
  const { name, label, type = 'text', value = '', hint, faults, autocomplete = 'off', optional, words } = props;
  const fault = faults?.[name];
  const described = [props.describedBy, hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  // Where something is wrong, whoever typed it starts there: of several, browsers take the first.
  const isFirst = faults && Object.keys(faults).length > 0 ? fault !== undefined : props.autofocus;
  return (
    <div class="field">
      <label for={name}>
        {label}
        {optional && <span class="optional"> (optional)</span>}
      </label>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      <input
        id={name}
        name={name}
        type={type}
        value={type === 'password' ? undefined : value}
        autocomplete={autocomplete}
        autocapitalize={words ? 'words' : 'none'}
        spellcheck={words ? undefined : false}
        autofocus={isFirst}
        required={!optional}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={described || undefined}
      />
      <Fault name={name} faults={faults} />
    </div>
  );
}

/** What is wrong with a field, where something is. */
export function Fault({ name, faults }: { name: string; faults: Faults | undefined }) {
  const fault = faults?.[name];
  if (!fault) return null;
  return (
    <p class="fault" id={`${name}-fault`}>
      {fault.startsWith('"') ? fault : `This ${fault}`}.
    </p>
  );
}

/** Something that is said before the rest of a page. `alert` is read out at once. */
export function Notice({ kind, id, children }: { kind: 'good' | 'bad'; id?: string; children?: Child }) {
  return (
    <div id={id} class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** A secret that is shown this once: in view as a whole, and to be selected as a whole. */
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div class="field secret">
      <label for="secret">{label}</label>
      <textarea id="secret" rows={3} readonly autofocus spellcheck={false}>
        {value}
      </textarea>
      <p class="hint">Copy it now. It is shown this once.</p>
    </div>
  );
}

interface ConfirmProps {
  readonly what: string;
  /** What it is done to, for those who do not see beside what it stands. */
  readonly about?: string;
  readonly action: string;
  readonly children?: Child;
}

/** An act that cannot be undone, behind a second step that works without script. */
export function Confirm({ what, about, action, children }: ConfirmProps) {
  return (
    <details class="confirm">
      <summary class="button danger quiet">
        <span class="shut">
          {what}
          {about && (
            <span class="unseen">
              {' '}
              (<bdi>{about}</bdi>)
            </span>
          )}
          …
        </span>
        <span class="open">Cancel</span>
      </summary>
      <form method="post" action={action}>
        {children}
        <button type="submit" class="danger">
          {what}
        </button>
      </form>
    </details>
  );
}

/** What an app or a token may do, in words. */
export function ScopeList({ scopes }: { scopes: readonly Scope[] }) {
  return (
    <ul class="scopes">
      {scopes.map((scope) => (
        <li class={scope === 'admin' ? 'grave' : undefined}>{scopeWords[scope]}</li>
      ))}
    </ul>
  );
}

interface ScopeBoxesProps {
  readonly offered: readonly Scope[];
  readonly chosen: readonly string[];
  readonly faults?: Faults | undefined;
}

/** Boxes to choose scopes by. */
export function ScopeBoxes({ offered, chosen, faults }: ScopeBoxesProps) {
  return (
    <fieldset aria-describedby={faults?.scopes && 'scopes-fault'}>
      <legend>What it may do</legend>
      {offered.map((scope, i) => (
        <label class="box">
          <input
            type="checkbox"
            name="scopes"
            value={scope}
            checked={chosen.includes(scope)}
            autofocus={i === 0 && faults?.scopes !== undefined}
          />
          <span>{scopeWords[scope]}</span>
        </label>
      ))}
      <Fault name="scopes" faults={faults} />
    </fieldset>
  );
}

/** A time as people read it, in UTC: the server does not know where they are. */
export function Time({ at }: { at: number | null }) {
  if (at === null) return <span class="muted">never</span>;
  const iso = new Date(at).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>;
}
