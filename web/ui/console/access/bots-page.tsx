/** @jsxImportSource preact */
import type { User } from '@parley-chat/sdk';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { useSession } from '../../context.ts';
import { Dialog } from '../../dialog.tsx';
import { useLoading, useSubmit } from '../../problem.tsx';
import { navigate } from '../../route.ts';
import { FormButtons } from '../form-buttons.tsx';
import { ListPage } from '../page.tsx';
import { Fact } from './token-list.tsx';

const words = consoleText.bots;

/** The bots of the user. */
export function BotsPage() {
  const { client } = useSession();
  const [bots, setBots] = useState<readonly User[] | undefined>(undefined);
  const [isCreating, setCreating] = useState(false);
  const load = useCallback(async () => setBots((await client.bots.list({})).bots), [client]);
  const loading = useLoading(words.failed, load);
  return (
    <ListPage words={words} count={bots?.length} loading={loading} onCreate={() => setCreating(true)}>
      {bots && bots.length > 0 && (
        <ul class="access-list" aria-label={words.title}>
          {bots.map((bot) => (
            <li key={bot.user_id}>
              <article class="access-entry">
                <strong>
                  <a href={`/console/bots/${bot.user_id}`}>
                    <bdi>{bot.display_name}</bdi>
                  </a>
                </strong>
                <dl class="access-facts">
                  <div>
                    <dt>{words.name}</dt>
                    <dd>
                      <bdi>@{bot.name}</bdi>
                    </dd>
                  </div>
                  <Fact term={consoleText.access.created} at={bot.created_at} none="" />
                </dl>
              </article>
            </li>
          ))}
        </ul>
      )}
      {isCreating && <NewBotDialog onClose={() => setCreating(false)} />}
    </ListPage>
  );
}

function NewBotDialog({ onClose }: { onClose: () => void }) {
  const { client } = useSession();
  const [name, setName] = useState('');
  const [displayName, setDisplayName] = useState('');
  const { problem, submit, isBusy } = useSubmit({ labels: words.labels });
  const create = async () => {
    const shown = displayName.trim();
    const { bot } = await client.bots.create({ name: name.trim(), ...(shown !== '' && { display_name: shown }) });
    navigate(`/console/bots/${bot.user_id}`);
  };
  return (
    <Dialog title={words.createTitle} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          submit(create);
        }}
      >
        <div class="field">
          <label for="bot-name">{words.name}</label>
          <input
            id="bot-name"
            type="text"
            required
            autofocus
            maxLength={64}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            aria-describedby="bot-name-hint"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <p id="bot-name-hint" class="muted">
            {words.nameHint}
          </p>
        </div>
        <label class="field">
          <span>{words.displayName}</span>
          <input
            type="text"
            maxLength={100}
            autocomplete="off"
            value={displayName}
            onInput={(event) => setDisplayName(event.currentTarget.value)}
          />
        </label>
        <FormButtons problem={problem} act={words.act} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
