/** @jsxImportSource hono/jsx */
import { Box } from './fields.tsx';
import type { Form } from './form.ts';
import { Field } from './parts.tsx';
import { type Refusal, RefusalNotice } from './refusal.tsx';
import { type PageContext, show } from './site.tsx';

/** The values of the form for a new user, without the password. */
export interface UserTyped {
  readonly name: string;
  readonly displayName: string;
  readonly isAdmin: boolean;
}

export const emptyUser: UserTyped = { name: '', displayName: '', isAdmin: false };

export const readUserForm = (form: Form): UserTyped => ({
  name: form.get('name'),
  displayName: form.get('display_name'),
  isAdmin: form.get('is_admin') === 'yes',
});

export function newUserPage(c: PageContext, typed: UserTyped, refusal?: Refusal): Promise<Response> {
  const faults = refusal?.faults;
  const form = (
    <form method="post" action="/admin/users/new" class="card room">
      <RefusalNotice refusal={refusal} />
      <Field
        name="name"
        label="Name"
        hint="Used to sign in. Letters, digits, and . _ - between them. It cannot be changed later."
        value={typed.name}
        faults={faults}
        autofocus
      />
      <Field
        name="display_name"
        label="Display name"
        hint="Shown to people. The name by default."
        value={typed.displayName}
        words
        faults={faults}
        optional
      />
      <Field
        name="password"
        label="Password"
        type="password"
        hint="At least 10 characters. Leave it empty to create a link with which the user chooses one."
        autocomplete="new-password"
        faults={faults}
        optional
      />
      <Box name="is_admin" label="Administrator" checked={typed.isAdmin} />
      <button type="submit">Create the user</button>
    </form>
  );
  return show(c, { title: 'Create a user', section: '/admin/users' }, form, refusal?.status);
}
