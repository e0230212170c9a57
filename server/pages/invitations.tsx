/** @jsxImportSource hono/jsx */
import { title as titleRule } from '@parley/contract';
import { z } from 'zod';
import { closedHint, createInvitation, type SignUpPolicy, withdrawInvitation } from '../auth/links.ts';
import { isLoopbackHost } from '../domain/address.ts';
import { validate } from '../http/validate.ts';
import { type LinkRow, listLinks } from '../store/access/links.ts';
import { namesOf } from '../store/access/users.ts';
import { Field, PostForm } from './fields.tsx';
import { attempt, RejectedForm } from './form.ts';
import { idIn } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { Once, once } from './once.tsx';
import { About, Card, Item, Items, Secret } from './parts.tsx';
import { type PageContext, requireAdministrator, type Site, type SiteDeps } from './site.ts';
import { Time } from './time.tsx';

const noteRule = z.object({ note: titleRule.optional() });

const policies: Readonly<Record<SignUpPolicy, string>> = {
  open: 'Anybody can sign up here, with or without an invitation.',
  invitation: 'Only people with an invitation can sign up here.',
  closed: closedHint,
};

/** Links to sign up, for administrators. */
export function invitationPages(site: Site, deps: SiteDeps): void {
  const { services, signUp } = deps;

  site.get('/admin/invitations', (c) => {
    requireAdministrator(c);
    return invitationsPage(c, deps);
  });

  site.post('/admin/invitations', async (c) => {
    const { actor } = requireAdministrator(c);
    const { form } = c.var;
    const created = await attempt(c, async () => {
      services.requireRoom();
      const { note = '' } = validate(noteRule, { note: form.get('note').trim() || undefined });
      return once(services, form, () => createInvitation(services, signUp, actor, note));
    });
    return invitationsPage(c, deps, created);
  });

  site.post('/admin/invitations/:id/withdraw', async (c) => {
    const { actor } = requireAdministrator(c);
    await withdrawInvitation(services, actor, idIn(c, 'id'));
    return goTo(c, '/admin/invitations', 'invitation-withdrawn');
  });
}

async function invitationsPage(
  c: PageContext,
  { services, signUp }: SiteDeps,
  result?: RejectedForm | { readonly link: LinkRow; readonly secret: string },
) {
  const links = await listLinks(services.engine, 'invitation', services.now());
  const creators = links.flatMap(({ created_by }) => created_by ?? []);
  const names = await namesOf(services.engine, creators);
  const rejected = result instanceof RejectedForm ? result : undefined;
  const hint = 'Only administrators see it. For example: who it is for.';
  const items = links.map((link) => (
    <Item
      heading={link.note ? <bdi>{link.note}</bdi> : <span class="muted">Without a note</span>}
      facts={{
        By: <bdi>{(link.created_by !== null && names.get(link.created_by)) || 'the operator'}</bdi>,
        Created: <Time at={link.created_at} />,
        Until: <Time at={link.expires_at} />,
      }}
      action={
        <form method="post" action={`/admin/invitations/${link.link_id}/withdraw`}>
          <button type="submit" class="danger quiet">
            Withdraw
            <About name={link.note || 'without a note'} />
          </button>
        </form>
      }
    />
  ));
  return show(
    c,
    { title: 'Invitations', section: '/admin/invitations' },
    <>
      {result && !(result instanceof RejectedForm) && (
        <Card title="New invitation" isFresh>
          <Secret label="Send this to the person you invite" value={`${c.var.origin}/invitation/${result.secret}`} />
          <p>
            It works once, for the first person who opens it, until <Time at={result.link.expires_at} />.
          </p>
          {isLoopbackHost(new URL(c.var.origin).hostname) && (
            <p>
              Only this machine can open it. To let others in, set <code>HOST</code> and <code>PUBLIC_URL</code> and
              restart the server.
            </p>
          )}
        </Card>
      )}
      <p>
        {policies[signUp]} The setting <code>PARLEY_SIGN_UP</code> decides this; it is <code>{signUp}</code>.
      </p>
      {signUp !== 'closed' && (
        <Card title="Invite somebody">
          <PostForm action="/admin/invitations" button="Create an invitation" rejected={rejected}>
            <Once by={services} />
            <Field name="note" label="Note" hint={hint} rejected={rejected} isFirst words optional />
          </PostForm>
        </Card>
      )}
      <Card title="Open invitations">
        <Items none="There are no open invitations." items={items} />
      </Card>
    </>,
    rejected?.status,
  );
}
