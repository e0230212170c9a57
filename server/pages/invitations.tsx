/** @jsxImportSource hono/jsx */
import { ParleyError, title as titleRule } from '@parley/contract';
import { z } from 'zod';
import type { SignUpPolicy } from '../auth/arrivals.ts';
import { createInvitation, withdrawInvitation } from '../auth/links.ts';
import { validate } from '../http/validate.ts';
import { type LinkRow, listLinks } from '../store/access/links.ts';
import { namesOf } from '../store/access/users.ts';
import { Facts } from './facts.tsx';
import { idIn } from './ids.ts';
import { DoneNotice, goTo } from './notices.tsx';
import { Once, once } from './once.tsx';
import { Field, Secret, Time } from './parts.tsx';
import { type Refusal, RefusalNotice, tried } from './refusal.tsx';
import { formOf, type PageContext, requireAdministrator, type Site, type SiteDeps, show } from './site.tsx';

const noteRule = z.object({ note: titleRule.optional() });

/** What `PARLEY_SIGN_UP` means for invitations. */
const policies: Readonly<Record<SignUpPolicy, string>> = {
  open: 'Anybody can sign up here, with or without an invitation.',
  invitation: 'Only people with an invitation can sign up here.',
  closed: 'Nobody can sign up here, not even with an invitation. Administrators create users.',
};

/** Links to sign up, for administrators. */
export function invitationPages(site: Site, deps: SiteDeps): void {
  const { services, signUp } = deps;

  site.get('/admin/invitations', (c) => {
    requireAdministrator(c);
    return invitationsPage(c, deps, { note: '' });
  });

  site.post('/admin/invitations', async (c) => {
    const { actor } = requireAdministrator(c);
    const form = formOf(c);
    const typed = { note: form.get('note').trim() };
    const made = await tried(async () => {
      if (signUp === 'closed') throw new ParleyError('conflict', policies.closed);
      const { note = '' } = validate(noteRule, { note: typed.note || undefined });
      return once(services, form, () => createInvitation(services, actor, note));
    });
    if (!made.ok) return invitationsPage(c, deps, { ...typed, refusal: made.refusal });
    return invitationsPage(c, deps, { note: '', made: made.value });
  });

  site.post('/admin/invitations/:id/withdraw', async (c) => {
    const { actor } = requireAdministrator(c);
    await withdrawInvitation(services, actor, idIn(c, 'id'));
    return goTo(c, '/admin/invitations', 'invitation-withdrawn');
  });
}

interface InvitationsState {
  readonly note: string;
  readonly refusal?: Refusal;
  readonly made?: { readonly link: LinkRow; readonly secret: string };
}

async function invitationsPage(c: PageContext, { services, signUp }: SiteDeps, state: InvitationsState) {
  const links = await listLinks(services.engine, 'invitation', services.now());
  const names = await namesOf(
    services.engine,
    links.flatMap(({ created_by }) => created_by ?? []),
  );
  return show(
    c,
    { title: 'Invitations', section: '/admin/invitations' },
    <>
      <DoneNotice c={c} />
      {state.made && <NewInvitation link={state.made.link} url={`${c.var.origin}/invitation/${state.made.secret}`} />}
      <p>
        {policies[signUp]} The setting <code>PARLEY_SIGN_UP</code> decides this; it is <code>{signUp}</code>.
      </p>
      {signUp !== 'closed' && <Invite by={services} note={state.note} refusal={state.refusal} />}
      <section class="card">
        <h2>Open invitations</h2>
        <InvitationList links={links} names={names} />
      </section>
    </>,
    state.refusal?.status,
  );
}

function NewInvitation({ link, url }: { link: LinkRow; url: string }) {
  return (
    <section class="card fresh">
      <h2>New invitation</h2>
      <Secret label="Send this to the person you invite" value={url} />
      <p>
        It works once, for the first person who opens it, until <Time at={link.expires_at} />.
      </p>
    </section>
  );
}

interface InviteProps {
  readonly by: SiteDeps['services'];
  readonly note: string;
  readonly refusal: Refusal | undefined;
}

function Invite({ by, note, refusal }: InviteProps) {
  return (
    <section class="card">
      <h2>Invite somebody</h2>
      <form method="post" action="/admin/invitations" class="room">
        <RefusalNotice refusal={refusal} />
        <Once by={by} />
        <Field
          name="note"
          label="Note"
          hint="Only administrators see it. For example: who it is for."
          value={note}
          faults={refusal?.faults}
          autofocus={refusal !== undefined}
          words
          optional
        />
        <button type="submit">Create an invitation</button>
      </form>
    </section>
  );
}

function InvitationList({ links, names }: { links: readonly LinkRow[]; names: ReadonlyMap<number, string> }) {
  if (links.length === 0) return <p class="muted">There are no open invitations.</p>;
  return (
    <ul class="items">
      {links.map((link) => (
        <li>
          <div>
            <h3>{link.note ? <bdi>{link.note}</bdi> : <span class="muted">Without a note</span>}</h3>
            <Facts
              small
              facts={{
                By: <bdi>{(link.created_by !== null && names.get(link.created_by)) || 'the operator'}</bdi>,
                Created: <Time at={link.created_at} />,
                Until: <Time at={link.expires_at} />,
              }}
            />
          </div>
          <form method="post" action={`/admin/invitations/${link.link_id}/withdraw`}>
            <button type="submit" class="danger quiet">
              Withdraw
              <span class="unseen">
                {' '}
                (<bdi>{link.note || 'without a note'}</bdi>)
              </span>
            </button>
          </form>
        </li>
      ))}
    </ul>
  );
}
