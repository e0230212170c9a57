/** @jsxImportSource preact */
import type { User } from '@parley-chat/sdk';
import { useCallback, useState } from 'preact/hooks';
import { adminText } from '../../../text/console/admin/text.ts';
import { Avatar } from '../../avatar.tsx';
import { useSession } from '../../context.ts';
import { Dialog } from '../../dialog.tsx';
import { openDialog } from '../../dialogs.ts';
import { EmptyState } from '../../empty-state.tsx';
import { Icon } from '../../icon.tsx';
import { tell, useAct } from '../../notice.tsx';
import { Problem, useSubmit } from '../../problem.tsx';
import { FormButtons } from '../form-buttons.tsx';
import { Pill } from '../health.tsx';
import { PageHead } from '../page.tsx';
import { Invitations } from './invitations.tsx';
import { ListEnd, pathWith, SearchField } from './list.tsx';
import { type RowPage, useRows } from './pages.ts';
import { AdminTable, Day } from './table.tsx';

const words = adminText.people;

const path = '/console/people';

/** Everybody with an account, and those who are invited. */
export function PeoplePage({ query }: { readonly query: string }) {
  const { client } = useSession();
  const name = new URLSearchParams(query).get('q') ?? '';
  const [disabling, setDisabling] = useState<User | undefined>(undefined);
  const load = useCallback(
    async (after_id: number | undefined): Promise<RowPage<User, number>> => {
      const { users, has_more } = await client.users.list({
        ...(name !== '' && { query: name }),
        ...(after_id !== undefined && { after_id }),
      });
      return { rows: users, next: has_more ? users.at(-1)?.user_id : undefined };
    },
    [client, name],
  );
  const { rows, more, loading, reload, replace } = useRows(words.failed, load);
  const changed = (user: User) => replace(({ user_id }) => user_id === user.user_id, user);
  return (
    <div class="page wide">
      <PageHead words={words}>
        <div class="buttons">
          <a class="button quiet" href="/admin/users/new">
            {words.create}
          </a>
          <button
            type="button"
            class="button"
            onClick={() => {
              openDialog.value = { name: 'invite' };
            }}
          >
            <Icon name="invite" />
            {words.invite}
          </button>
        </div>
      </PageHead>
      <Invitations />
      <div class="filters is-open">
        <SearchField label={words.query} value={name} pathOf={(text) => pathWith(path, { q: text })} />
      </div>
      <Problem words={loading.problem} onRetry={loading.again} />
      {rows?.length === 0 && (
        <EmptyState icon="people" title={words.empty}>
          {words.emptyHint}
        </EmptyState>
      )}
      {rows && rows.length > 0 && <People users={rows} onDisable={setDisabling} onChange={changed} />}
      <ListEnd failed={words.failed} more={more} />
      {disabling && (
        <DisableDialog
          user={disabling}
          onDone={(user) => {
            changed(user);
            // The bots of the person are disabled too.
            reload();
          }}
          onClose={() => setDisabling(undefined)}
        />
      )}
    </div>
  );
}

interface PeopleProps {
  readonly users: readonly User[];
  readonly onDisable: (user: User) => void;
  readonly onChange: (user: User) => void;
}

function People({ users, onDisable, onChange }: PeopleProps) {
  const { client, store } = useSession();
  const act = useAct();
  const enable = ({ user_id, name }: User) =>
    act(words.enableFailed, async () => {
      onChange((await client.users.enable({ user_id })).user);
      tell(words.wasEnabled(name));
    });
  const names = new Map(users.map(({ user_id, name }) => [user_id, name]));
  return (
    <AdminTable
      label={words.list}
      rows={users}
      keyOf={({ user_id }) => user_id}
      columns={[
        { label: words.columns.name, kind: 'row-title', cell: (user) => <Person user={user} /> },
        {
          label: words.columns.kind,
          cell: ({ kind, owner_id, is_admin }) => {
            const owner = owner_id === null ? undefined : names.get(owner_id);
            if (kind === 'bot') return owner === undefined ? words.bot : words.botOf(<bdi>{owner}</bdi>);
            return is_admin ? <strong>{words.administrator}</strong> : words.person;
          },
        },
        {
          label: words.columns.state,
          cell: ({ disabled_at }) =>
            disabled_at === null ? (
              <Pill kind="done">{words.active}</Pill>
            ) : (
              <Pill kind="disabled">{words.disabled}</Pill>
            ),
        },
        { label: words.columns.created, cell: ({ created_at }) => <Day at={created_at} /> },
        {
          label: words.columns.actions,
          kind: 'actions',
          cell: (user) => (
            <span class="buttons">
              <a
                class="button quiet"
                href={pathWith('/console/audit', { user: user.name })}
                aria-label={words.historyOf(user.name)}
              >
                {words.history}
              </a>
              <a class="button quiet" href={`/admin/users/${user.user_id}`} aria-label={words.manageOf(user.name)}>
                {words.manage}
              </a>
              {user.disabled_at !== null && (
                <button
                  type="button"
                  class="button quiet"
                  aria-label={words.enableOf(user.name)}
                  onClick={() => enable(user)}
                >
                  {words.enable}
                </button>
              )}
              {user.disabled_at === null && user.user_id !== store.me.user_id && (
                <button
                  type="button"
                  class="button quiet"
                  aria-label={words.disableOf(user.name)}
                  onClick={() => onDisable(user)}
                >
                  {words.disable}
                </button>
              )}
            </span>
          ),
        },
      ]}
    />
  );
}

const Person = ({ user: { user_id, name, display_name } }: { readonly user: User }) => (
  <span class="user-cell">
    <Avatar id={user_id} name={display_name} isSmall />
    <span>
      <bdi class="name">{display_name}</bdi>
      {display_name !== name && <bdi class="muted">{name}</bdi>}
    </span>
  </span>
);

interface DisableDialogProps {
  readonly user: User;
  readonly onDone: (user: User) => void;
  readonly onClose: () => void;
}

function DisableDialog({ user: { user_id, name }, onDone, onClose }: DisableDialogProps) {
  const { client } = useSession();
  const { problem, submit, isBusy } = useSubmit();
  return (
    <Dialog title={words.disableTitle(name)} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          submit(async () => {
            onDone((await client.users.disable({ user_id })).user);
            tell(words.wasDisabled(name));
            onClose();
          });
        }}
      >
        <p>{words.disableAbout}</p>
        <FormButtons problem={problem} act={words.disable} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
