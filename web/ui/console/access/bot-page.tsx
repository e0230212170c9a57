/** @jsxImportSource preact */
import type { User } from '@parley-chat/sdk';
import type { Token, TokenUse } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { consoleText } from '../../../text/console/text.ts';
import { useSession } from '../../context.ts';
import { Icon } from '../../icon.tsx';
import { Problem, useLoading } from '../../problem.tsx';
import { ConfirmDialog } from '../confirm-dialog.tsx';
import { BackLink, MissingPage } from '../page.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';
import { Fact, TokenList } from './token-list.tsx';

const words = consoleText.bots;

interface BotState {
  readonly bot: User | undefined;
  readonly tokens: readonly Token[];
  readonly usage: readonly TokenUse[];
}

/** One bot and its tokens. */
export function BotPage({ botId }: { botId: number }) {
  const { client } = useSession();
  const [state, setState] = useState<BotState | undefined>(undefined);
  const [act, setAct] = useState<'token' | 'disable' | undefined>(undefined);
  const load = useCallback(async () => {
    const bot = (await client.bots.list({})).bots.find(({ user_id }) => user_id === botId);
    if (!bot) return setState({ bot, tokens: [], usage: [] });
    const [{ tokens }, { usage }] = await Promise.all([
      client.bots.tokens({ user_id: botId }),
      client.tokens.usage({}),
    ]);
    setState({ bot, tokens, usage });
  }, [client, botId]);
  const { problem, again, run } = useLoading(words.failed, load);
  if (state && !state.bot) return <MissingPage words={words} href="/console/bots" />;
  const close = () => {
    setAct(undefined);
    run(load);
  };
  return (
    <div class="page">
      <BackLink href="/console/bots" words={words.all} />
      <Problem words={problem} onRetry={again} />
      {state?.bot && (
        <>
          <header class="page-head">
            <div>
              <h1>
                <bdi>{state.bot.display_name}</bdi>
              </h1>
              <dl class="access-facts">
                <div>
                  <dt>{words.name}</dt>
                  <dd>
                    <bdi>@{state.bot.name}</bdi>
                  </dd>
                </div>
                <div>
                  <dt>{words.userId}</dt>
                  <dd>{state.bot.user_id}</dd>
                </div>
                <Fact term={consoleText.access.created} at={state.bot.created_at} none="" />
              </dl>
            </div>
            <div class="buttons">
              <button type="button" class="button" onClick={() => setAct('token')}>
                <Icon name="plus" />
                {consoleText.access.create}
              </button>
              <button type="button" class="button quiet" onClick={() => setAct('disable')}>
                {words.disable}
              </button>
            </div>
          </header>
          <h2>{consoleText.access.title}</h2>
          {state.tokens.length === 0 && <p class="muted">{words.noTokens}</p>}
          <TokenList
            tokens={state.tokens}
            usage={state.usage}
            revoke={async (token_id) => {
              await client.bots.revokeToken({ user_id: botId, token_id });
              run(load);
            }}
          />
        </>
      )}
      {act === 'token' && (
        <NewTokenDialog
          isBot
          create={async ({ scopes, ...form }) => {
            // The form offers a bot no others.
            const own = scopes.filter((scope) => scope !== 'admin' && scope !== 'apps');
            return (await client.bots.createToken({ user_id: botId, ...form, scopes: own })).access_token;
          }}
          onClose={close}
        />
      )}
      {act === 'disable' && (
        <ConfirmDialog
          title={words.disableTitle}
          act={words.disable}
          done={words.disabled}
          onConfirm={() => client.bots.disable({ user_id: botId })}
          to="/console/bots"
          onClose={close}
        >
          <p>{words.disableQuestion}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
