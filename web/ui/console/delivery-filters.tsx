/** @jsxImportSource preact */
import type { Delivery } from '@parley-chat/sdk';
import { useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { eventNames } from './event-choice.ts';
import { type Filters, isFiltered, isoOf, localOf, noFilters } from './filters.ts';

const words = consoleText.deliveries.filters;
const { states } = consoleText.deliveries;

interface DeliveryFiltersProps {
  readonly filters: Filters;
  readonly onChange: (part: Partial<Filters>) => void;
}

/** The filters of the URL, as fields. */
export function DeliveryFilters({ filters, onChange }: DeliveryFiltersProps) {
  const { state, event, chatId, since, until } = filters;
  const names: readonly string[] = eventNames;
  // On a phone the fields would push the table off the screen.
  const [isOpen, setOpen] = useState(isFiltered(filters));
  return (
    <>
      <button type="button" class="button quiet filters-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {words.label}
      </button>
      <fieldset class={`filters${isOpen ? ' is-open' : ''}`}>
        <legend class="unseen">{words.label}</legend>
        <Choice
          label={words.state}
          value={state}
          values={Object.entries(states)}
          onChange={(value) => onChange({ state: value as Delivery['state'] | undefined })}
        />
        <Choice
          label={words.event}
          value={event}
          values={[...new Set([...names, ...(event ? [event] : [])])].map((name) => [name, name])}
          onChange={(value) => onChange({ event: value })}
        />
        <ChatChoice chatId={chatId} onChange={(value) => onChange({ chatId: value })} />
        <Time label={words.since} value={since} onChange={(value) => onChange({ since: value })} />
        <Time label={words.until} value={until} onChange={(value) => onChange({ until: value })} />
        {isFiltered(filters) && (
          <button
            type="button"
            class="button quiet"
            onClick={() => onChange({ ...noFilters, deliveryId: filters.deliveryId })}
          >
            {words.clear}
          </button>
        )}
      </fieldset>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly values: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string | undefined) => void;
}

export const Choice = ({ label, value, values, onChange }: ChoiceProps) => (
  <label class="field">
    <span>{label}</span>
    <select value={value ?? ''} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
      <option value="">{words.any}</option>
      {values.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

interface ChatChoiceProps {
  readonly chatId: number | undefined;
  readonly onChange: (chatId: number | undefined) => void;
}

/** One of the reader's chats, or another one that the URL names. */
export function ChatChoice({ chatId, onChange }: ChatChoiceProps) {
  const { store } = useSession();
  const chats = [...store.byActivity.value, ...store.archived.value].map(
    (chat) => [String(chat.chat_id), chatName(chat)] as const,
  );
  const isOther = chatId !== undefined && !chats.some(([id]) => id === String(chatId));
  return (
    <Choice
      label={words.chat}
      value={chatId === undefined ? undefined : String(chatId)}
      values={isOther ? [...chats, [String(chatId), consoleText.deliveries.chatNumber(chatId)]] : chats}
      onChange={(value) => onChange(value === undefined ? undefined : Number(value))}
    />
  );
}

interface TimeProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

const Time = ({ label, value, onChange }: TimeProps) => (
  <label class="field time-field">
    <span>{label}</span>
    <input
      type="datetime-local"
      value={localOf(value)}
      onChange={(event) => onChange(isoOf(event.currentTarget.value))}
    />
  </label>
);
