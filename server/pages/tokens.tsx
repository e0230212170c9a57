/** @jsxImportSource hono/jsx */
import { type Scope, scopeNames } from '@parley/contract';
import type { Child } from 'hono/jsx';
import { parseScopes } from '../auth/access-token.ts';
import type { TokenRow } from '../store/access/tokens.ts';
import { Facts } from './facts.tsx';
import { Select } from './fields.tsx';
import type { Form } from './form.ts';
import { Confirm, Field, ScopeBoxes, Secret, Time } from './parts.tsx';
import { type Refusal, RefusalNotice } from './refusal.tsx';

/** Access tokens on the pages of people and of bots. */

/** Words that follow "May". */
const inShort: Readonly<Record<Scope, string>> = {
  'messages:read': 'read messages',
  'messages:write': 'send and change messages',
  'chats:read': 'see chats and users',
  'chats:write': 'create and change chats',
  webhooks: 'manage webhooks',
  files: 'upload and download files',
  admin: 'administer the service',
};

const list = new Intl.ListFormat('en');

const scopesInShort = (scopes: Iterable<Scope>): string =>
  `May ${list.format([...scopes].map((scope) => inShort[scope]))}.`;

interface TokenListProps {
  readonly tokens: readonly TokenRow[];
  readonly revokeAt: (token: TokenRow) => string;
}

export function TokenList({ tokens, revokeAt }: TokenListProps) {
  if (tokens.length === 0) return <p class="muted">There are no access tokens.</p>;
  return (
    <ul class="items">
      {tokens.map((token) => (
        <li>
          <div>
            <h3>
              <bdi>{token.name}</bdi>
            </h3>
            <p>{scopesInShort(parseScopes(token.scopes))}</p>
            <Facts
              small
              facts={{
                Created: <Time at={token.created_at} />,
                'Last used': <Time at={token.last_used_at} />,
                Expires: <Time at={token.expires_at} />,
              }}
            />
          </div>
          <Confirm what="Revoke" about={token.name} action={revokeAt(token)}>
            <p>Programs that use this token lose access at once. This cannot be undone.</p>
          </Confirm>
        </li>
      ))}
    </ul>
  );
}

/** The values of the form for a token. */
export interface TokenTyped {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires: string;
}

export const nothingTyped: TokenTyped = { name: '', scopes: [], expires: 'never' };

export function readTokenForm(form: Form): TokenTyped {
  const ticked = form.all('scopes');
  return {
    name: form.get('name'),
    scopes: scopeNames.filter((scope) => ticked.includes(scope)),
    expires: form.get('expires'),
  };
}

interface TokenFormProps {
  readonly action: string;
  readonly offered: readonly Scope[];
  /** The choices for its expiry, if there are any. */
  readonly lifetimes?: Readonly<Record<string, string>>;
  readonly typed: TokenTyped;
  readonly refusal: Refusal | undefined;
  readonly children?: Child;
}

export function TokenForm({ action, offered, lifetimes, typed, refusal, children }: TokenFormProps) {
  const faults = refusal?.faults;
  return (
    <form method="post" action={action} class="room">
      <RefusalNotice refusal={refusal} />
      {children}
      <Field
        name="name"
        label="Name"
        hint="What it is for, such as: nightly report."
        value={typed.name}
        faults={faults}
        autofocus={refusal !== undefined}
        words
      />
      <ScopeBoxes offered={offered} chosen={typed.scopes} faults={faults} />
      {lifetimes && <Select name="expires" label="Expires" value={typed.expires} choices={lifetimes} faults={faults} />}
      <button type="submit">Create the token</button>
    </form>
  );
}

/** Shows a new token, and a command that tries it. */
export function NewToken({ name, accessToken, origin }: { name: string; accessToken: string; origin: string }) {
  return (
    <section class="card fresh">
      <h2>
        The new token <bdi>{name}</bdi>
      </h2>
      <Secret label="Access token" value={accessToken} />
      <p>Try it. This shows the owner of the token.</p>
      <pre>
        <code>{`curl -H 'Authorization: Bearer ${accessToken}' '${origin}/api/users.php?action=me'`}</code>
      </pre>
    </section>
  );
}
