/** @jsxImportSource preact */
import type { App } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { useSession } from '../../context.ts';
import { Dialog } from '../../dialog.tsx';
import { useLoading, useSubmit } from '../../problem.tsx';
import { navigate } from '../../route.ts';
import { FormButtons } from '../form-buttons.tsx';
import { ListPage } from '../page.tsx';
import { SecretDialog } from '../secret-dialog.tsx';
import { AppFields, type AppForm, redirectsIn } from './app-fields.tsx';
import { Fact } from './token-list.tsx';

const words = consoleText.apps;

/** The OAuth apps of the user. */
export function AppsPage() {
  const { client } = useSession();
  const [apps, setApps] = useState<readonly App[] | undefined>(undefined);
  const [isCreating, setCreating] = useState(false);
  const load = useCallback(async () => setApps((await client.apps.list({})).apps), [client]);
  const loading = useLoading(words.failed, load);
  return (
    <ListPage words={words} count={apps?.length} loading={loading} onCreate={() => setCreating(true)}>
      {apps && apps.length > 0 && (
        <ul class="access-list" aria-label={words.title}>
          {apps.map((app) => (
            <li key={app.app_id}>
              <article class="access-entry">
                <strong>
                  <a href={`/console/apps/${app.app_id}`}>
                    <bdi>{app.name}</bdi>
                  </a>
                </strong>
                {app.by_token && <p class="muted">{words.unconfirmed}</p>}
                <dl class="access-facts">
                  <div>
                    <dt>{words.clientId}</dt>
                    <dd>
                      <code>{app.client_id}</code>
                    </dd>
                  </div>
                  <Fact term={words.registered} at={app.created_at} none="" />
                </dl>
              </article>
            </li>
          ))}
        </ul>
      )}
      {isCreating && <NewAppDialog onClose={() => setCreating(false)} />}
    </ListPage>
  );
}

function NewAppDialog({ onClose }: { onClose: () => void }) {
  const { client } = useSession();
  const [form, setForm] = useState<AppForm>({ name: '', redirects: '' });
  const [confidential, setConfidential] = useState(true);
  const [made, setMade] = useState<{ readonly appId: number; readonly secret: string } | undefined>(undefined);
  const { problem, submit, isBusy } = useSubmit({ labels: words.labels });
  const open = (appId: number) => navigate(`/console/apps/${appId}`);
  if (made)
    return (
      <SecretDialog
        key="made"
        title={words.done}
        about={words.secretHint}
        label={words.clientSecret}
        secret={made.secret}
        onClose={() => open(made.appId)}
      />
    );
  const register = async () => {
    const redirects = redirectsIn(form);
    const { app, client_secret } = await client.apps.register({ name: form.name.trim(), redirects, confidential });
    if (client_secret === null) open(app.app_id);
    else setMade({ appId: app.app_id, secret: client_secret });
  };
  return (
    <Dialog key="form" title={words.createTitle} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          submit(register);
        }}
      >
        <AppFields form={form} onChange={setForm} />
        <fieldset class="scope-choice">
          <legend>{words.kind}</legend>
          {([true, false] as const).map((keepsSecret) => (
            <label key={String(keepsSecret)} class="box">
              <input
                type="radio"
                name="kind"
                checked={confidential === keepsSecret}
                onChange={() => setConfidential(keepsSecret)}
              />
              <span>{keepsSecret ? words.onServer : words.onDevice}</span>
            </label>
          ))}
        </fieldset>
        <FormButtons problem={problem} act={words.act} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
