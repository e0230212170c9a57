/** @jsxImportSource hono/jsx */
import { invalidField, type Scope, scopeNames, scopes as scopeWords } from '@parley/contract';
import { parseScopes } from '../auth/access-token.ts';
import type { TokenRow } from '../store/access/tokens.ts';
import { Boxes, Field, PostForm, Select } from './fields.tsx';
import { type Form, RejectedForm } from './form.ts';
import { Once, type OnceProps } from './once.tsx';
import { Card, Confirm, Item, Items, Secret } from './parts.tsx';
import { Time } from './time.tsx';

/** Access tokens on the pages of people and of bots. */

/** Words that follow "May". */
const shortWords: Readonly<Record<Scope, string>> = {
  'messages:read': 'read messages',
  'messages:write': 'send and change messages',
  'chats:read': 'see chats and users',
  'chats:write': 'create and change chats',
  webhooks: 'manage webhooks',
  files: 'upload and download files',
  apps: 'register and delete apps',
  admin: 'administer the service',
};

const list = new Intl.ListFormat('en');

const scopesInShort = (scopes: Iterable<Scope>): string =>
  `May ${list.format([...scopes].map((scope) => shortWords[scope]))}.`;

/** `path` is the page of the owner of the tokens. */
export function TokenList({ tokens, path }: { tokens: readonly TokenRow[]; path: string }) {
  const items = tokens.map((token) => (
    <Item
      heading={<bdi>{token.name}</bdi>}
      facts={{
        Created: <Time at={token.created_at} />,
        'Last used': <Time at={token.last_used_at} />,
        Expires: <Time at={token.expires_at} />,
      }}
      action={
        <Confirm label="Revoke" about={token.name} action={`${path}/tokens/${token.token_id}/revoke`}>
          <p>Programs that use this token lose access at once. This cannot be undone.</p>
        </Confirm>
      }
    >
      <p>{scopesInShort(parseScopes(token.scopes))}</p>
    </Item>
  ));
  return <Items none="There are no access tokens." items={items} />;
}

/** The choices for the expiry of a token. */
const lifetimes: Readonly<Record<string, string>> = {
  '30d': 'In 30 days',
  '90d': 'In 90 days',
  '365d': 'In 365 days',
  never: 'Never',
};
const defaultLifetime = '90d';

/** Returns the chosen lifetime in seconds, or undefined if the token never expires. Throws `validation_failed`. */
export function lifetimeIn(form: Form): number | undefined {
  const expires = form.get('expires') || defaultLifetime;
  if (!Object.hasOwn(lifetimes, expires)) throw invalidField('expires', 'must be one of the choices');
  return expires === 'never' ? undefined : Number.parseInt(expires, 10) * 86_400;
}

/** Returns the chosen scopes. Throws `validation_failed` if there are none. */
export function scopesIn(form: Form): Scope[] {
  const ticked = form.all('scopes');
  const scopes = scopeNames.filter((scope) => ticked.includes(scope));
  if (scopes.length === 0) throw invalidField('scopes', 'needs at least one choice');
  return scopes;
}

interface TokenFormProps extends OnceProps {
  readonly action: string;
  readonly offered: readonly Scope[];
  readonly rejected: RejectedForm | undefined;
}

export function TokenForm({ action, offered, rejected, by }: TokenFormProps) {
  const choices = Object.fromEntries(offered.map((scope) => [scope, scopeWords[scope]]));
  const hint = 'What it is for, such as: nightly report.';
  return (
    <Card title="Create an access token">
      <PostForm action={action} button="Create the token" rejected={rejected}>
        <Once by={by} />
        <Field name="name" label="Name" hint={hint} rejected={rejected} isFirst words />
        <Boxes type="checkbox" name="scopes" label="What it may do" choices={choices} rejected={rejected} />
        <Select name="expires" label="Expires" choices={lifetimes} value={defaultLifetime} rejected={rejected} />
      </PostForm>
    </Card>
  );
}

export interface CreatedToken {
  readonly name: string;
  readonly accessToken: string;
}

/** Shows a token that was just created, and a command that tries it. */
export function NewToken({ created, origin }: { created: CreatedToken | RejectedForm | undefined; origin: string }) {
  if (!created || created instanceof RejectedForm) return null;
  const { name, accessToken } = created;
  const title = (
    <>
      The new token <bdi>{name}</bdi>
    </>
  );
  return (
    <Card title={title} isFresh>
      <Secret label="Access token" value={accessToken} />
      <p>Try it. This shows the owner of the token.</p>
      <pre>
        <code>{`curl -H 'Authorization: Bearer ${accessToken}' '${origin}/api/users.php?action=me'`}</code>
      </pre>
    </Card>
  );
}
