/** @jsxImportSource preact */
import type { AuthorizedApp, Token, TokenUse } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { useSession } from '../../context.ts';
import { useLoading } from '../../problem.tsx';
import { ConfirmDialog } from '../confirm-dialog.tsx';
import { ListPage } from '../page.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';
import { Fact, TokenList } from './token-list.tsx';

const words = consoleText.access;

interface Access {
  readonly tokens: readonly Token[];
  readonly usage: readonly TokenUse[];
  readonly apps: readonly AuthorizedApp[];
}

/** What can act for the user: the user's own tokens, and the apps of others. */
export function TokensPage() {
  const { client } = useSession();
  const [access, setAccess] = useState<Access | undefined>(undefined);
  const [isCreating, setCreating] = useState(false);
  const load = useCallback(async () => {
    const [{ tokens }, { usage }, { apps }] = await Promise.all([
      client.tokens.list({}),
      client.tokens.usage({}),
      client.apps.authorized({}),
    ]);
    setAccess({ tokens, usage, apps });
  }, [client]);
  const loading = useLoading(words.failed, load);
  const { run } = loading;
  return (
    <ListPage words={words} count={access?.tokens.length} loading={loading} onCreate={() => setCreating(true)}>
      {access && access.tokens.length > 0 && (
        <TokenList
          tokens={access.tokens}
          usage={access.usage}
          revoke={async (token_id) => {
            await client.tokens.revoke({ token_id });
            run(load);
          }}
        />
      )}
      {access && access.apps.length > 0 && <AuthorizedApps apps={access.apps} onChange={() => run(load)} />}
      {isCreating && (
        <NewTokenDialog
          isBot={false}
          create={async (form) => (await client.tokens.create(form)).access_token}
          onClose={() => {
            setCreating(false);
            run(load);
          }}
        />
      )}
    </ListPage>
  );
}

interface AuthorizedAppsProps {
  readonly apps: readonly AuthorizedApp[];
  readonly onChange: () => void;
}

function AuthorizedApps({ apps, onChange }: AuthorizedAppsProps) {
  const { client } = useSession();
  const [ended, setEnded] = useState<AuthorizedApp | undefined>(undefined);
  return (
    <section aria-label={words.authorized}>
      <h2>{words.authorized}</h2>
      <ul class="access-list">
        {apps.map((app) => (
          <li key={app.app_id}>
            <article class="access-entry">
              <div class="line">
                <strong>
                  <bdi>{app.name}</bdi>
                </strong>
                <button
                  type="button"
                  class="button quiet"
                  aria-label={words.endAccessOf(app.name)}
                  onClick={() => setEnded(app)}
                >
                  {words.endAccess}
                </button>
              </div>
              <p class="muted">{words.may(app.scopes)}</p>
              <dl class="access-facts">
                <Fact term={words.lastUsed} at={app.last_used_at} none={words.never} />
                <Fact term={words.since} at={app.since} none="" />
              </dl>
            </article>
          </li>
        ))}
      </ul>
      {ended && (
        <ConfirmDialog
          title={words.endAccess}
          act={words.endAccess}
          done={words.accessEnded}
          onConfirm={async () => {
            await client.apps.revokeAccess({ app_id: ended.app_id });
            onChange();
          }}
          onClose={() => setEnded(undefined)}
        >
          <p>{words.endAccessQuestion(<bdi>{ended.name}</bdi>)}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
