/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { maxNameLength } from '../../lib/limits.ts';
import { text } from '../../text/text.ts';

interface BlockProps {
  readonly title: string;
  readonly about?: string;
  readonly children: ComponentChildren;
}

/** A group of settings under one heading. */
export function Block({ title, about, children }: BlockProps) {
  const id = useId();
  return (
    <section class="block" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {about && <p class="muted">{about}</p>}
      {children}
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly note?: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** Something that is on or off. */
export function Choice({ label, note, isChecked, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isChecked}
        aria-describedby={note ? id : undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        <span class="name">{label}</span>
        {note && (
          <span id={id} class="muted">
            {note}
          </span>
        )}
      </span>
    </label>
  );
}

/** The fields of a form, undefined until they are loaded. A change takes back the notice that they were saved. */
export function useFields<T extends object>() {
  const [fields, setFields] = useState<T | undefined>(undefined);
  const [notice, setNotice] = useState('');
  return {
    fields,
    notice,
    setFields,
    setNotice,
    change: (part: Partial<T>): void => {
      setNotice('');
      if (fields) setFields({ ...fields, ...part });
    },
  };
}

interface NameFieldProps {
  readonly label: string;
  readonly required?: true;
  readonly autocomplete?: 'name';
  readonly placeholder?: string;
  /** Undefined until it is loaded. */
  readonly value: string | undefined;
  readonly onInput: (value: string) => void;
}

/** One line of text. */
export const NameField = ({ label, value, onInput, ...attributes }: NameFieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input
      type="text"
      // Not only spaces.
      {...(attributes.required && { pattern: '.*\\S.*' })}
      maxLength={maxNameLength}
      dir="auto"
      disabled={value === undefined}
      value={value ?? ''}
      onInput={(event) => onInput(event.currentTarget.value)}
      {...attributes}
    />
  </label>
);

/** The end of a form: its button, and what has become of it. */
export const SaveButtons = ({ isDisabled, notice }: { isDisabled: boolean; notice: string }) => (
  <div class="buttons">
    <button type="submit" class="button" disabled={isDisabled}>
      {text.common.save}
    </button>
    <p role="status" class="muted">
      {notice}
    </p>
  </div>
);
