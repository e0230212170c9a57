/** @jsxImportSource hono/jsx */
import { password, title, userName } from '@parley/contract';
import type { Child } from 'hono/jsx';
import { z } from 'zod';
import type { NewPerson } from '../auth/arrivals.ts';
import { type Checked, check, type Faults, type Form } from './form.ts';
import { againFault, NewPassword } from './new-password.tsx';
import { Field } from './parts.tsx';

const schema = z.object({ name: userName, display_name: title.optional(), password });

/** Reads the fields of `PersonForm`. */
export function readPerson(form: Form): Checked<NewPerson> {
  const checked = check(schema, {
    name: form.get('name').trim() || undefined,
    display_name: form.get('display_name').trim() || undefined,
    password: form.get('password') || undefined,
  });
  if (!checked.ok) return checked;
  const faults = againFault(form);
  if (faults) return { ok: false, faults };
  const { name, display_name: displayName = name } = checked.value;
  return { ok: true, value: { name, displayName, password: checked.value.password } };
}

/** The form for a new account. It keeps the values after an error, except the password. */
export function PersonForm(props: {
  action: string;
  button: string;
  typed: Form | undefined;
  faults: Faults | undefined;
  children?: Child;
}) {
  const { action, button, typed, faults, children } = props;
  return (
    <form method="post" action={action} class="card">
      {children}
      <Field
        name="name"
        label="Name"
        hint="Letters and digits, without spaces. You sign in with it, and it cannot be changed."
        value={typed?.get('name')}
        faults={faults}
        autocomplete="username"
        autofocus
      />
      <Field
        name="display_name"
        label="Display name"
        hint="How others see you, such as Ada Lovelace."
        value={typed?.get('display_name')}
        faults={faults}
        autocomplete="name"
        words
        optional
      />
      <NewPassword label="Password" faults={faults} />
      <button type="submit">{button}</button>
    </form>
  );
}
