/** @jsxImportSource hono/jsx */
import type { Faults } from './form.ts';
import { Fault } from './parts.tsx';

/** Form fields other than a line of text. */

const described = (name: string, hint: string | undefined, faults: Faults | undefined): string | undefined =>
  [hint && `${name}-hint`, faults?.[name] && `${name}-fault`].filter(Boolean).join(' ') || undefined;

function Hint({ name, hint }: { name: string; hint: string | undefined }) {
  if (!hint) return null;
  return (
    <p class="hint" id={`${name}-hint`}>
      {hint}
    </p>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly faults?: Faults | undefined;
}

export function Lines({ name, label, hint, value, faults }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <Hint name={name} hint={hint} />
      <textarea
        id={name}
        name={name}
        rows={4}
        required
        autocomplete="off"
        autocapitalize="none"
        autofocus={faults?.[name] !== undefined}
        spellcheck={false}
        aria-invalid={faults?.[name] ? 'true' : undefined}
        aria-describedby={described(name, hint, faults)}
      >
        {value}
      </textarea>
      <Fault name={name} faults={faults} />
    </div>
  );
}

/** Labels by value. */
export type Choices = Readonly<Record<string, string>>;

export function Select({ name, label, hint, value, faults, choices }: FieldProps & { choices: Choices }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <Hint name={name} hint={hint} />
      <select
        id={name}
        name={name}
        aria-invalid={faults?.[name] ? 'true' : undefined}
        aria-describedby={described(name, hint, faults)}
      >
        {Object.entries(choices).map(([choice, words]) => (
          <option value={choice} selected={choice === value}>
            {words}
          </option>
        ))}
      </select>
      <Fault name={name} faults={faults} />
    </div>
  );
}

export function Radios({ name, label, hint, value, faults, choices }: FieldProps & { choices: Choices }) {
  return (
    <fieldset aria-describedby={described(name, hint, faults)}>
      <legend>{label}</legend>
      <Hint name={name} hint={hint} />
      {Object.entries(choices).map(([choice, words]) => (
        <label class="box">
          <input type="radio" name={name} value={choice} checked={choice === value} required />
          <span>{words}</span>
        </label>
      ))}
      <Fault name={name} faults={faults} />
    </fieldset>
  );
}

export function Box({ name, label, checked }: { name: string; label: string; checked: boolean }) {
  return (
    <div class="field">
      <label class="box">
        <input type="checkbox" name={name} value="yes" checked={checked} />
        <span>{label}</span>
      </label>
    </div>
  );
}

export function Filter({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value} autocomplete="off" autocapitalize="none" spellcheck={false} />
    </div>
  );
}
