/** @jsxImportSource preact */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSubmit } from '../problem.tsx';
import { EventChoice } from './event-choice.ts';
import { EventTree } from './event-tree.tsx';
import { FormButtons } from './form-buttons.tsx';

const words = consoleText.form;

interface WebhookFormProps {
  readonly url: string;
  readonly onUrl: (url: string) => void;
  readonly events: readonly string[];
  /** The words of the button. */
  readonly act: string;
  /** More fields. */
  readonly children?: ComponentChildren;
  readonly onSubmit: (form: { readonly url: string; readonly events: string[] }) => Promise<unknown>;
  readonly onCancel: () => void;
}

/** The fields that a webhook has at first and that can be changed later. */
export function WebhookForm({ url, onUrl, events, act, children, onSubmit, onCancel }: WebhookFormProps) {
  const { problem, submit, isBusy, fail } = useSubmit({ labels: words.labels });
  const [choice, setChoice] = useState(() => new EventChoice(events));
  return (
    <form
      class="content"
      onSubmit={(event) => {
        event.preventDefault();
        if (choice.isEmpty) fail(words.noEvents);
        else submit(() => onSubmit({ url: url.trim(), events: [...choice.names] }));
      }}
    >
      <div class="field">
        <label for="webhook-url">{words.url}</label>
        <input
          id="webhook-url"
          type="url"
          required
          autofocus
          pattern="\s*[Hh][Tt][Tt][Pp][Ss]?://.+"
          title={words.urlForm}
          maxLength={2_048}
          placeholder={words.urlExample}
          aria-describedby="webhook-url-hint"
          autocomplete="off"
          value={url}
          onInput={(event) => onUrl(event.currentTarget.value)}
        />
        <p id="webhook-url-hint" class="muted">
          {words.urlHint}
        </p>
      </div>
      <EventTree choice={choice} onChange={setChoice} />
      {children}
      <FormButtons problem={problem} act={act} isBusy={isBusy} onCancel={onCancel} />
    </form>
  );
}
