/** @jsxImportSource preact */
import { useCallback, useState } from 'preact/hooks';
import { settingsText } from '../../text/settings/text.ts';
import { chatName, mayManage, useSession } from '../context.ts';
import { openDialog } from '../dialogs.ts';
import { Problem, useLoading, useSubmit } from '../problem.tsx';
import { Block, NameField, SaveButtons, useFields } from './parts.tsx';

const words = settingsText.service;
const labels = { name: words.name, welcome_chat_id: words.welcomeChat };

const adminPages = [
  ['/console/overview', words.pages.overview],
  ['/console/people', words.pages.users],
  ['/console/webhooks', words.pages.webhooks],
  ['/console/audit', words.pages.audit],
] as const;

/** What the service is called, and where new people arrive. For administrators. */
export function ServiceSettings() {
  const { store } = useSession();
  if (!store.me.is_admin) return <p class="muted">{words.onlyAdmins}</p>;
  return (
    <>
      <ServiceForm />
      <Block title={words.peopleTitle} about={words.peopleAbout}>
        <button
          type="button"
          class="button quiet"
          onClick={() => {
            openDialog.value = { name: 'invite' };
          }}
        >
          {words.invite}
        </button>
      </Block>
      <Block title={words.pagesTitle}>
        <ul class="links">
          {adminPages.map(([href, label]) => (
            <li key={href}>
              <a href={href}>{label}</a>
            </li>
          ))}
        </ul>
      </Block>
    </>
  );
}

interface Service {
  readonly name: string;
  readonly welcome_chat_id: number | null;
}

function ServiceForm() {
  const { client, store } = useSession();
  const { problem, submit, isBusy } = useSubmit({ labels });
  const { fields: service, setFields: setService, change, notice, setNotice } = useFields<Service>();
  /** The one that the server has: perhaps a chat that this administrator is not in. */
  const [savedChat, setSavedChat] = useState<number | null>(null);
  const load = useCallback(async () => {
    const { service } = await client.service.get({});
    setService(service);
    setSavedChat(service.welcome_chat_id);
  }, [client]);
  const loading = useLoading(settingsText.failed, load);
  const save = ({ name, welcome_chat_id }: Service) =>
    submit(async () => {
      setNotice('');
      const { service } = await client.service.update({ name: name.trim(), welcome_chat_id });
      store.serviceName.value = service.name;
      setService(service);
      setSavedChat(service.welcome_chat_id);
      setNotice(words.saved);
    });
  const chats = [...store.byActivity.value, ...store.archived.value].filter(mayManage);
  const isForeign = savedChat !== null && !chats.some(({ chat_id }) => chat_id === savedChat);
  return (
    <Block title={words.title}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (service) save(service);
        }}
      >
        <NameField label={words.name} required value={service?.name} onInput={(name) => change({ name })} />
        <div class="field">
          <label for="welcome-chat">{words.welcomeChat}</label>
          <select
            id="welcome-chat"
            aria-describedby="welcome-chat-about"
            disabled={!service}
            value={String(service?.welcome_chat_id ?? '')}
            onChange={(event) => change({ welcome_chat_id: Number(event.currentTarget.value) || null })}
          >
            <option value="">{words.noWelcomeChat}</option>
            {isForeign && <option value={savedChat}>{store.chat(savedChat)?.name ?? words.otherChat}</option>}
            {chats.map((chat) => (
              <option key={chat.chat_id} value={chat.chat_id}>
                {chatName(chat)}
              </option>
            ))}
          </select>
          <p id="welcome-chat-about" class="muted">
            {words.welcomeAbout}
          </p>
        </div>
        <Problem words={loading.problem} onRetry={loading.again} />
        <Problem words={problem} />
        <SaveButtons isDisabled={isBusy || !service} notice={notice} />
      </form>
    </Block>
  );
}
