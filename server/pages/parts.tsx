/** @jsxImportSource hono/jsx */
import { type Scope, scopes as scopeWords } from '@parley/contract';
import type { Child } from 'hono/jsx';
import type { Faults } from './form.ts';

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
  /** Free text, which gets capitals and spell checking. */
  readonly words?: boolean;
  /** The id of an element that describes the field. */
  readonly describedBy?: string | undefined;
}

/** A line of text with label, hint and error. */
export function Field(props: FieldProps) {
  const { name, label, type = 'text', value = '', hint, faults, autocomplete = 'off', optional, words } = props;
  const fault = faults?.[name];
  const described = [props.describedBy, hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  // The focus goes to the first field with an error.
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

export function Fault({ name, faults }: { name: string; faults: Faults | undefined }) {
  const fault = faults?.[name];
  if (!fault) return null;
  return (
    <p class="fault" id={`${name}-fault`}>
      {fault.startsWith('"') ? fault : `This ${fault}`}.
    </p>
  );
}

/** A notice above the page. Screen readers announce a bad one at once. */
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
  /** The subject, for screen readers. */
  readonly about?: string;
  readonly action: string;
  readonly children?: Child;
}

/** A button with a confirmation step that needs no script. */
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

/** A time in UTC, because the server does not know the time zone of the user. */
export function Time({ at }: { at: number | null }) {
  if (at === null) return <span class="muted">never</span>;
  const iso = new Date(at).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>;
}
