/** @jsxImportSource hono/jsx */
import { Box } from './fields.tsx';
import type { Form } from './form.ts';
import { Field } from './parts.tsx';
import { type Refusal, RefusalNotice } from './refusal.tsx';
import { type PageContext, show } from './site.tsx';

/** What was typed about somebody new; a password is not kept. */
export interface UserTyped {
  readonly name: string;
  readonly displayName: string;
  readonly isAdmin: boolean;
}

export const nobodyTyped: UserTyped = { name: '', displayName: '', isAdmin: false };

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
        hint="To sign in with. Letters, digits, and . _ - between them. It stays as it is."
        value={typed.name}
        faults={faults}
        autofocus
      />
      <Field
        name="display_name"
        label="Display name"
        hint="Shown to people. Without one, it is the name."
        value={typed.displayName}
        words
        faults={faults}
        optional
      />
      <Field
        name="password"
        label="Password"
        type="password"
        hint="At least 10 characters. Or leave it empty, and create a link next with which they choose one themselves."
        autocomplete="new-password"
        faults={faults}
        optional
      />
      <Box name="is_admin" label="An administrator of the service" checked={typed.isAdmin} />
      <button type="submit">Create the user</button>
    </form>
  );
  return show(c, { title: 'Create a user', section: '/admin/users' }, form, refusal?.status);
}
