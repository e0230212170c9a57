/** @jsxImportSource hono/jsx */
import type { TokenId } from '@parley/contract';
import { sessionMs, signOutOther, signOutOthers } from '../auth/sessions.ts';
import { listSessions, type SessionRow } from '../store/access/sessions.ts';
import { idIn } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { About, Card, Confirm, Item, Items } from './parts.tsx';
import { leave } from './session.ts';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { text } from './text/text.ts';
import { Time, timeInWords } from './time.tsx';

const words = text.sessions;

const section = '/sessions';

/** People use fewer browsers. A program that signs in without end must not make the page endless. */
const maxShown = 100;

/** The browsers in which the user is signed in. */
export function sessionPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get(section, (c) => sessionsPage(c, deps, requireSignedIn(c)));

  site.post('/sessions/:id/sign-out', async (c) => {
    const { actor, caller } = requireSignedIn(c);
    const tokenId = idIn<TokenId>(c, 'id');
    if (tokenId === caller.tokenId) return leave(c, deps);
    await signOutOther(services, actor, caller.tokenId, tokenId);
    return goTo(c, section, 'session-ended');
  });

  site.post('/sessions/sign-out-others', async (c) => {
    const { actor, caller } = requireSignedIn(c);
    await signOutOthers(services, actor, caller.tokenId);
    return goTo(c, section, 'other-sessions-ended');
  });
}

async function sessionsPage(c: PageContext, { services }: SiteDeps, { user, caller }: SignedIn): Promise<Response> {
  const { tokenId } = caller;
  const limits = { now: services.now(), count: maxShown };
  const sessions = await listSessions(services.engine, user.user_id, tokenId, limits);
  const items = sessions.map((session) => sessionItem(session, session.token_id === tokenId, user.time_zone));
  const { others } = words;
  return show(
    c,
    { title: words.title, section },
    <>
      <p class="lead">{words.about(sessionMs / 86_400_000)}</p>
      <Card title={words.list}>
        <Items none={words.none} items={items} />
        {sessions.length === maxShown && <p class="muted">{words.onlyLast(maxShown)}</p>}
      </Card>
      {sessions.length > 1 && (
        <Card title={others.title}>
          <p>
            {others.about((password) => (
              <a href="/password">{password}</a>
            ))}
          </p>
          <Confirm label={others.signOut} action="/sessions/sign-out-others">
            <p>{others.consequence}</p>
          </Confirm>
        </Card>
      )}
    </>,
  );
}

function sessionItem(
  { token_id, user_agent, created_at, last_used_at }: SessionRow,
  isOwn: boolean,
  zone: string | null,
) {
  const browser = text.common.browser(user_agent);
  return (
    <Item
      heading={
        <>
          {browser}
          {isOwn && (
            <>
              {' '}
              <strong class="tag">{words.this}</strong>
            </>
          )}
        </>
      }
      facts={{
        [words.signedIn]: <Time at={created_at} />,
        [words.lastUsed]: isOwn ? words.now : <Time at={last_used_at ?? created_at} />,
      }}
      action={
        <form method="post" action={isOwn ? '/sign-out' : `/sessions/${token_id}/sign-out`}>
          <button type="submit" class="quiet">
            {text.common.signOut}
            <About name={isOwn ? words.own : words.other({ browser, time: timeInWords(created_at, zone) })} />
          </button>
        </form>
      }
    />
  );
}
