/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { RejectedForm } from './form.ts';
import { Notice } from './parts.tsx';
import { text } from './text/text.ts';

interface PostFormProps {
  readonly action: string;
  readonly button: string;
  /** Its message is shown above the fields. Each field shows its own value and error. */
  readonly rejected?: RejectedForm | undefined;
  readonly class?: string;
  readonly children?: Child;
}

export function PostForm({ action, button, rejected, children, ...props }: PostFormProps) {
  return (
    <form method="post" action={action} class={props.class ?? 'room'}>
      {rejected?.message !== undefined && (
        <Notice kind="bad" id="refusal">
          {rejected.message}
        </Notice>
      )}
      {children}
      <button type="submit">{button}</button>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value?: string;
  readonly optional?: boolean;
  readonly rejected?: RejectedForm | undefined;
}

const describedBy = ({ name, hint, rejected }: FieldProps): string | undefined =>
  [
    rejected?.message !== undefined && 'refusal',
    hint !== undefined && `${name}-hint`,
    rejected?.faults[name] !== undefined && `${name}-fault`,
  ]
    .filter(Boolean)
    .join(' ') || undefined;

const description = (field: FieldProps) => ({
  'aria-invalid': field.rejected?.faults[field.name] === undefined ? undefined : ('true' as const),
  'aria-describedby': describedBy(field),
});

function Hint({ name, hint }: FieldProps) {
  if (hint === undefined) return null;
  return (
    <p class="hint" id={`${name}-hint`}>
      {hint}
    </p>
  );
}

function Fault({ name, rejected }: FieldProps) {
  const fault = rejected?.faults[name];
  if (fault === undefined) return null;
  return (
    <p class="fault" id={`${name}-fault`}>
      {text.fields.fault(fault)}
    </p>
  );
}

function Labelled({ children, ...field }: FieldProps & { children?: Child }) {
  return (
    <div class="field">
      <label for={field.name}>
        {field.label}
        {field.optional && <span class="muted">{text.fields.optional}</span>}
      </label>
      <Hint {...field} />
      {children}
      <Fault {...field} />
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'password';
  readonly autocomplete?: string | undefined;
  readonly autofocus?: boolean | undefined;
  /** The first field of a form gets the focus if the form as a whole was rejected. */
  readonly isFirst?: boolean;
  /** Free text, which gets capitals and spell checking. */
  readonly words?: boolean;
  /** Checked by the browser too, so that a mistake does not cost the passwords in the form, which are never sent back. */
  readonly pattern?: string;
  readonly minLength?: number;
  /** Another field, an error of which moves the focus here. */
  readonly focusFor?: string;
}

/** A line of text. */
export function Field({ type = 'text', autocomplete = 'off', autofocus, isFirst, words, ...field }: TextFieldProps) {
  const { name, value = '', hint, optional, rejected, pattern, minLength, focusFor } = field;
  const faults = rejected?.faults ?? {};
  const hasFaults = Object.keys(faults).length > 0;
  const isFaulty = [name, focusFor ?? name].some((one) => faults[one] !== undefined);
  return (
    <Labelled {...field}>
      <input
        id={name}
        name={name}
        type={type}
        value={type === 'password' ? undefined : (rejected?.form.get(name) ?? value)}
        autocomplete={autocomplete}
        autocapitalize={words ? 'words' : 'none'}
        spellcheck={words ? undefined : false}
        autofocus={hasFaults ? isFaulty : autofocus || (isFirst && rejected !== undefined)}
        required={!optional}
        pattern={pattern}
        title={pattern && hint}
        minlength={minLength}
        {...description(field)}
      />
    </Labelled>
  );
}

/** Labels by value. */
type Choices = Readonly<Record<string, string>>;

/** Checkboxes. None is chosen at first. */
export function Boxes({ choices, ...field }: FieldProps & { choices: Choices }) {
  const { name, label, rejected } = field;
  return (
    <fieldset aria-describedby={describedBy(field)}>
      <legend>{label}</legend>
      <Hint {...field} />
      {Object.entries(choices).map(([value, words], i) => (
        <label class="box">
          <input
            type="checkbox"
            name={name}
            value={value}
            checked={rejected?.form.all(name).includes(value)}
            autofocus={i === 0 && rejected?.faults[name] !== undefined}
          />
          <span>{words}</span>
        </label>
      ))}
      <Fault {...field} />
    </fieldset>
  );
}

/** A field of a search form. */
export function Filter({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <Labelled name={name} label={label}>
      <input id={name} name={name} value={value} autocomplete="off" autocapitalize="none" spellcheck={false} />
    </Labelled>
  );
}
