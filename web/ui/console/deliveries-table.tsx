/** @jsxImportSource preact */
import type { Delivery } from '@parley-chat/sdk';
import { consoleText } from '../../text/console/text.ts';
import { chatName, useSession } from '../context.ts';
import { explain, lastOf } from './failure.ts';
import { Pill } from './health.tsx';
import { exactTime, secondsTime } from './times.ts';

const words = consoleText.deliveries;
const { columns } = words;

interface DeliveriesTableProps {
  readonly deliveries: readonly Delivery[];
  /** The one that is shown beside the table. */
  readonly openId: number | undefined;
  readonly pathOf: (deliveryId: number) => string;
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (chosen: ReadonlySet<number>) => void;
}

/** One delivery in a row. On a phone each row is a card. */
export function DeliveriesTable({ deliveries, openId, pathOf, chosen, onChoose }: DeliveriesTableProps) {
  const isEvery = deliveries.every(({ delivery_id }) => chosen.has(delivery_id));
  const choose = (ids: readonly number[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (isChosen) next.add(id);
      else next.delete(id);
    }
    onChoose(next);
  };
  return (
    <table class="deliveries-table" aria-label={words.title}>
      <thead>
        <tr>
          <th scope="col" class="select">
            <input
              type="checkbox"
              aria-label={words.selectAll}
              checked={isEvery}
              onChange={(event) =>
                choose(
                  deliveries.map(({ delivery_id }) => delivery_id),
                  event.currentTarget.checked,
                )
              }
            />
          </th>
          <th scope="col">{columns.state}</th>
          <th scope="col">{columns.event}</th>
          <th scope="col">{columns.chat}</th>
          <th scope="col">{columns.status}</th>
          <th scope="col" class="number">
            {columns.duration}
          </th>
          <th scope="col" class="number">
            {columns.attempts}
          </th>
          <th scope="col">{columns.time}</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <Row
            key={delivery.delivery_id}
            delivery={delivery}
            isOpen={delivery.delivery_id === openId}
            href={pathOf(delivery.delivery_id)}
            isChosen={chosen.has(delivery.delivery_id)}
            onChoose={(isChosen) => choose([delivery.delivery_id], isChosen)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly delivery: Delivery;
  readonly isOpen: boolean;
  readonly href: string;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}

function Row({ delivery, isOpen, href, isChosen, onChoose }: RowProps) {
  const { delivery_id, state, event, replay_id, attempt_count, duration_ms, last_attempt_at, next_attempt_at } =
    delivery;
  return (
    <tr data-delivery={delivery_id} class={isOpen ? 'open' : undefined}>
      <td class="select">
        <input
          type="checkbox"
          aria-label={words.selectOne(delivery_id)}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      </td>
      <td class="state">
        <Pill kind={state}>{words.states[state]}</Pill>
      </td>
      <td class="event">
        <a href={href} aria-current={isOpen ? 'true' : undefined}>
          {event}
        </a>
        {replay_id !== null && <span class="muted"> {words.replayed}</span>}
      </td>
      <td class="chat">
        <ChatOf chatId={delivery.chat_id} />
      </td>
      <td class="status">
        <StatusOf delivery={delivery} />
      </td>
      <td class="duration number">{duration_ms === null ? consoleText.none : consoleText.milliseconds(duration_ms)}</td>
      <td class="attempts number">
        {attempt_count}
        <span class="on-card"> {words.attempts(attempt_count)}</span>
      </td>
      <td class="time">
        {last_attempt_at === null ? (
          consoleText.none
        ) : (
          <time dateTime={last_attempt_at} title={exactTime(last_attempt_at)}>
            {secondsTime(last_attempt_at)}
          </time>
        )}
        {state === 'retrying' && next_attempt_at !== null && (
          <span class="muted"> {words.next(secondsTime(next_attempt_at))}</span>
        )}
      </td>
    </tr>
  );
}

/** The name of a chat, or its number if the reader is not in it. */
export function ChatOf({ chatId }: { chatId: number | null }) {
  const { store } = useSession();
  if (chatId === null) return <span class="muted">{words.noChat}</span>;
  const chat = store.chat(chatId);
  return chat ? <bdi>{chatName(chat)}</bdi> : <span>{words.chatNumber(chatId)}</span>;
}

/** The status of the last response, or why there was none. */
function StatusOf({ delivery }: { delivery: Delivery }) {
  const { last_status } = delivery;
  const why = explain(lastOf(delivery));
  if (why) return <span class="bad">{last_status === null ? why.short : `${last_status} ${why.short}`}</span>;
  return <span>{last_status ?? consoleText.none}</span>;
}
