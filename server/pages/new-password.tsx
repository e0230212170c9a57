/** @jsxImportSource hono/jsx */
import { password } from '@parley/contract';
import { z } from 'zod';
import { type Checked, check, type Faults, type Form } from './form.ts';
import { Field } from './parts.tsx';

const schema = z.object({ password });

/** Reads the fields of `NewPassword`. */
export function readNewPassword(form: Form): Checked<string> {
  const checked = check(schema, { password: form.get('password') || undefined });
  if (!checked.ok) return checked;
  const faults = againFault(form);
  return faults ? { ok: false, faults } : { ok: true, value: checked.value.password };
}

export function againFault(form: Form): Faults | undefined {
  return form.get('again') === form.get('password') ? undefined : { again: 'is not the same password' };
}

/** Two fields for a new password. */
export function NewPassword({
  label,
  faults,
  autofocus,
}: {
  label: string;
  faults: Faults | undefined;
  autofocus?: boolean;
}) {
  return (
    <>
      <Field
        name="password"
        label={label}
        type="password"
        hint="At least 10 characters. A few words work well."
        faults={faults}
        autocomplete="new-password"
        autofocus={autofocus}
      />
      <Field name="again" label={`${label}, again`} type="password" faults={faults} autocomplete="new-password" />
    </>
  );
}

/** A hidden field that tells password managers the account. */
export function WhosePassword({ name }: { name: string }) {
  return <input type="text" name="username" value={name} autocomplete="username" readonly hidden />;
}
