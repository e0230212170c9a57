/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { maxNameLength } from '../lib/limits.ts';
import { text } from '../text/text.ts';
import { chatName, maySend, useSession } from './context.ts';
import { openDialog, startChat } from './dialogs.ts';
import type { Steps } from './first-steps.tsx';
import { Icon } from './icon.tsx';
import { Problem, useSubmit } from './problem.tsx';
import { chatPath, navigate } from './route.ts';

/** The steps, and what leads to each that is not done. */
export function FirstStepsList({ steps, onHide }: { steps: Steps; onHide: () => void }) {
  const chat = useSession().store.byActivity.value.find(maySend);
  return (
    <section class="first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{text.firstSteps.title}</h2>
      <ol>
        <Step title={text.firstSteps.name} isDone={steps.isNamed}>
          <NameForm />
        </Step>
        <Step title={text.firstSteps.invite} isDone={steps.isInvited}>
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              openDialog.value = { name: 'invite' };
            }}
          >
            {text.firstSteps.createLink}
          </button>
        </Step>
        <Step title={text.firstSteps.send} isDone={steps.hasSent}>
          {chat ? (
            <button type="button" class="button quiet" onClick={() => navigate(chatPath(chat.chat_id))}>
              <span>{text.firstSteps.open(<bdi>{chatName(chat)}</bdi>)}</span>
            </button>
          ) : (
            // There may be nobody yet to whom a direct chat could lead.
            <button type="button" class="button quiet" onClick={() => startChat('group')}>
              {text.common.startChat}
            </button>
          )}
        </Step>
        <Step title={text.firstSteps.connect} isDone={steps.isConnected}>
          <p>
            {text.firstSteps.connectHint((words) => (
              <a href="/console/webhooks">{words}</a>
            ))}
          </p>
        </Step>
      </ol>
      <button type="button" class="hide" onClick={onHide}>
        {text.firstSteps.hide}
      </button>
    </section>
  );
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ComponentChildren }) {
  return (
    <li class={isDone ? 'done' : undefined}>
      <span class="mark">{isDone && <Icon name="check" />}</span>
      <div class="body">
        <h3>
          {title}
          {isDone && <span class="unseen">{text.firstSteps.done}</span>}
        </h3>
        {!isDone && children}
      </div>
    </li>
  );
}

const nameLabels = { name: text.firstSteps.nameLabel };

/** Names the service. By default it also gets a group that everybody joins, so that nobody arrives where there is nothing. */
function NameForm() {
  const { client, store, loader } = useSession();
  const [name, setName] = useState('');
  const [hasGroup, setGroup] = useState(true);
  const { problem, submit, isBusy } = useSubmit({ labels: nameLabels });
  const save = async () => {
    const { service } = await client.service.update({ name: name.trim() });
    if (hasGroup && service.welcome_chat_id === null) {
      const { group } = await client.chats.createGroup({ name: text.firstSteps.group });
      await client.service.update({ welcome_chat_id: group.chat_id });
      loader.putChat(group);
    }
    store.serviceName.value = service.name;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '' && !isBusy) submit(save);
      }}
    >
      <div class="line">
        <input
          type="text"
          aria-label={text.firstSteps.nameLabel}
          placeholder={text.firstSteps.nameExample}
          maxLength={maxNameLength}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={isBusy || name.trim() === ''}>
          {text.common.save}
        </button>
      </div>
      <label class="check">
        <input type="checkbox" checked={hasGroup} onChange={(event) => setGroup(event.currentTarget.checked)} />
        {text.firstSteps.withGroup}
      </label>
      <Problem words={problem} />
    </form>
  );
}
