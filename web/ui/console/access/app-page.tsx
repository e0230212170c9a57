/** @jsxImportSource preact */
import { ApiError } from '@parley-chat/sdk';
import type { App } from '@parley-chat/sdk/operations.ts';
import type { ComponentChildren } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { text } from '../../../text/text.ts';
import { useSession } from '../../context.ts';
import { tell } from '../../notice.tsx';
import { Problem, useLoading, useSubmit } from '../../problem.tsx';
import { ConfirmDialog } from '../confirm-dialog.tsx';
import { CopyButton } from '../copy-button.tsx';
import { BackLink, MissingPage } from '../page.tsx';
import { SecretDialog } from '../secret-dialog.tsx';
import { AppFields, type AppForm, redirectsIn } from './app-fields.tsx';

const words = consoleText.apps;

/** Where an app sends people and asks for tokens. The metadata of the server says the same. */
const endpoints = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  device: '/oauth/device_authorization',
  metadata: '/.well-known/oauth-authorization-server',
} as const;

interface AppState {
  readonly app: App;
  readonly people: number;
}

/** One OAuth app. */
export function AppPage({ appId }: { appId: number }) {
  const { client } = useSession();
  const [state, setState] = useState<AppState | undefined>(undefined);
  const [isMissing, setMissing] = useState(false);
  const [act, setAct] = useState<'secret' | 'delete' | undefined>(undefined);
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const load = useCallback(async () => {
    try {
      const { app, people_count: people } = await client.apps.get({ app_id: appId });
      setState({ app, people });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      setMissing(true);
    }
  }, [client, appId]);
  const { problem, again } = useLoading(words.failed, load);
  if (isMissing) return <MissingPage words={words} href="/console/apps" />;
  const close = () => setAct(undefined);
  return (
    <div class="page">
      <BackLink href="/console/apps" words={words.all} />
      <Problem words={problem} onRetry={again} />
      {state && (
        <>
          <header class="page-head">
            <h1>
              <bdi>{state.app.name}</bdi>
            </h1>
            <div class="buttons">
              {state.app.confidential && (
                <button type="button" class="button quiet" onClick={() => setAct('secret')}>
                  {words.replace}
                </button>
              )}
              <button type="button" class="button quiet" onClick={() => setAct('delete')}>
                {words.delete}
              </button>
            </div>
          </header>
          {state.app.by_token && (
            <div class="why">
              <p>
                <strong>{words.unconfirmed}</strong>
              </p>
              <p>{words.unconfirmedHint}</p>
            </div>
          )}
          <Connection app={state.app} />
          <EditApp key={state.app.created_at} app={state.app} onChange={(app) => setState({ ...state, app })} />
        </>
      )}
      {act === 'secret' && state && (
        <ConfirmDialog
          title={words.replaceTitle}
          act={words.replace}
          done={words.replaced}
          onConfirm={async () => setSecret((await client.apps.replaceSecret({ app_id: appId })).client_secret)}
          onClose={close}
        >
          <p>{words.replaceQuestion(state.app.bot_id !== null)}</p>
        </ConfirmDialog>
      )}
      {secret !== undefined && (
        <SecretDialog
          title={words.newSecret}
          about={words.secretHint}
          label={words.clientSecret}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
      {act === 'delete' && state && (
        <ConfirmDialog
          title={words.deleteTitle}
          act={words.delete}
          done={words.deleted}
          onConfirm={() => client.apps.delete({ app_id: appId })}
          to="/console/apps"
          onClose={close}
        >
          <p>{words.deleteQuestion(state.people)}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function Connection({ app }: { app: App }) {
  const row = (term: string, value: string): ComponentChildren => (
    <div key={term}>
      <dt>{term}</dt>
      <dd class="beside">
        <code>{value}</code>
        <CopyButton text={value} label={words.copy(term)} />
      </dd>
    </div>
  );
  return (
    <section aria-label={words.connection}>
      <h2>{words.connection}</h2>
      <dl class="app-connection">
        {row(words.clientId, app.client_id)}
        {(Object.keys(endpoints) as (keyof typeof endpoints)[]).map((one) =>
          row(words.endpoints[one], `${location.origin}${endpoints[one]}`),
        )}
      </dl>
      {app.bot_id !== null && (
        <p class="muted">
          <a href={`/console/bots/${app.bot_id}`}>{words.itsBot}</a>
        </p>
      )}
    </section>
  );
}

interface EditAppProps {
  readonly app: App;
  readonly onChange: (app: App) => void;
}

function EditApp({ app, onChange }: EditAppProps) {
  const { client } = useSession();
  const [form, setForm] = useState<AppForm>({ name: app.name, redirects: app.redirects.join('\n') });
  const { problem, submit, isBusy } = useSubmit({ labels: words.labels });
  const save = async () => {
    const redirects = redirectsIn(form);
    const saved = await client.apps.update({ app_id: app.app_id, name: form.name.trim(), redirects });
    onChange(saved.app);
    tell(words.saved);
  };
  return (
    <section aria-label={words.edit}>
      <h2>{words.edit}</h2>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          submit(save);
        }}
      >
        <AppFields form={form} onChange={setForm} />
        <Problem words={problem} />
        <div class="buttons">
          <button type="submit" class="button" disabled={isBusy}>
            {text.common.save}
          </button>
        </div>
      </form>
    </section>
  );
}
