/** @jsxImportSource preact */
import type { Invitation } from '@parley-chat/sdk/operations.ts';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { openDialog } from '../../dialogs.ts';
import { tell, useAct } from '../../notice.tsx';
import { Problem, useLoading } from '../../problem.tsx';
import { exactTime } from '../times.ts';

const words = adminText.people;

interface Loaded {
  readonly invitations: readonly Invitation[];
  /** The names of those who invite. */
  readonly names: ReadonlyMap<number, string>;
}

/** The invitations that can still be used. A link is shown only when it is made. */
export function Invitations() {
  const { client } = useSession();
  const act = useAct();
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const load = useCallback(async () => {
    const { invitations } = await client.invitations.list({});
    const user_ids = [...new Set(invitations.flatMap(({ created_by }) => created_by ?? []))].slice(0, 50);
    const { users = [] } = user_ids.length === 0 ? {} : await client.users.get({ user_ids });
    setLoaded({ invitations, names: new Map(users.map(({ user_id, name }) => [user_id, name])) });
  }, [client]);
  const loading = useLoading(words.invitationsFailed, load);
  const { run } = loading;
  const isInviting = openDialog.value?.name === 'invite';
  useEffect(() => {
    if (loaded && !isInviting) run(load);
  }, [isInviting]);
  const withdraw = ({ invitation_id }: Invitation) =>
    act(words.withdrawFailed, async () => {
      await client.invitations.withdraw({ invitation_id });
      await load();
      tell(words.withdrawn);
    });
  return (
    <section class="invitations" aria-label={words.invitations}>
      <h2>{words.invitations}</h2>
      <Problem words={loading.problem} onRetry={loading.again} />
      {loaded?.invitations.length === 0 && <p class="muted">{words.noInvitations}</p>}
      <ul>
        {loaded?.invitations.map((invitation) => (
          <li key={invitation.invitation_id}>
            <span>
              <bdi class="name">{invitation.note || words.noNote}</bdi>
              <span class="muted">
                {words.invited({
                  by: <bdi>{loaded.names.get(invitation.created_by ?? 0) ?? words.operator}</bdi>,
                  until: exactTime(invitation.expires_at),
                })}
              </span>
            </span>
            <button
              type="button"
              class="button quiet"
              aria-label={words.withdrawOf(invitation.note || words.noNote)}
              onClick={() => withdraw(invitation)}
            >
              {words.withdraw}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
