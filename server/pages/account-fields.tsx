/** @jsxImportSource hono/jsx */
import { displayName, invalidField, password, userName } from '@parley/contract';
import type { Child } from 'hono/jsx';
import { z } from 'zod';
import type { NewPerson } from '../auth/arrivals.ts';
import { validate } from '../http/validate.ts';
import { Field, PostForm } from './fields.tsx';
import type { Form, RejectedForm } from './form.ts';
import { text } from './text/text.ts';

const words = text.account;

const person = z.object({ name: userName, display_name: displayName.optional(), password });

/** Reads the fields of `PersonForm`. Throws `validation_failed`. */
export function readPerson(form: Form): NewPerson {
  const { name, display_name: shown = name } = validate(person, {
    name: form.get('name').trim() || undefined,
    display_name: form.get('display_name').trim() || undefined,
    password: form.get('password') || undefined,
  });
  return { name, displayName: shown, password: readNewPassword(form) };
}

/** Reads the fields of `NewPassword`. Throws `validation_failed`. */
export function readNewPassword(form: Form): string {
  const chosen = validate(z.object({ password }), { password: form.get('password') || undefined }).password;
  if (form.get('again') !== chosen) throw invalidField('again', text.fields.faults.notSame);
  return chosen;
}

/** The rule of a user name, with spaces around it, which keyboards of phones add and `readPerson` removes. */
export const namePattern = ' *[A-Za-z0-9](?:[A-Za-z0-9._\\-]{0,38}[A-Za-z0-9])? *';

interface FormProps {
  readonly rejected: RejectedForm | undefined;
  readonly children?: Child;
}

/** The form for a new account of a person. */
export function PersonForm({ action, button, rejected, children }: FormProps & { action: string; button: string }) {
  return (
    <PostForm action={action} button={button} rejected={rejected} class="card">
      {children}
      <Field
        name="name"
        label={words.name}
        hint={words.nameHint}
        pattern={namePattern}
        rejected={rejected}
        autocomplete="username"
        autofocus
      />
      <Field
        name="display_name"
        label={words.displayName}
        hint={words.displayNameHint}
        rejected={rejected}
        autocomplete="name"
        words
        optional
      />
      <NewPassword label={text.common.password} rejected={rejected} />
    </PostForm>
  );
}

/** Two fields for a new password. */
export function NewPassword({ label, rejected, autofocus }: FormProps & { label: string; autofocus?: boolean }) {
  return (
    <>
      <Field
        name="password"
        label={label}
        type="password"
        hint={words.passwordHint}
        minLength={10}
        rejected={rejected}
        autocomplete="new-password"
        autofocus={autofocus}
        focusFor="again"
      />
      <Field name="again" label={words.again(label)} type="password" rejected={rejected} autocomplete="new-password" />
    </>
  );
}

/** A hidden field that tells password managers the account. */
export const PasswordOwner = ({ name }: { name: string }) => (
  <input type="text" name="username" value={name} autocomplete="username" readonly hidden />
);

/** The names of an account that its user does not create. */
export function NameFields({ hint, rejected, autofocus }: FormProps & { hint: string; autofocus?: boolean }) {
  return (
    <>
      <Field name="name" label={words.name} hint={hint} rejected={rejected} autofocus={autofocus} isFirst />
      <Field
        name="display_name"
        label={words.displayName}
        hint={words.displayNameDefault}
        rejected={rejected}
        words
        optional
      />
    </>
  );
}
