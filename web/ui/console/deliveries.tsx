/** @jsxImportSource preact */
import type { Client, Delivery } from '@parley-chat/sdk';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { EmptyState } from '../empty-state.tsx';
import { More } from '../more.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { navigate } from '../route.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { DeliveriesTable } from './deliveries-table.tsx';
import { isOpen, useDeliveryActs } from './delivery-acts.ts';
import { DeliveryFilters } from './delivery-filters.tsx';
import { type Advice, DeliveryPane } from './delivery-pane.tsx';
import { type DeliveryPage, type Filters, isFiltered, noFilters, refreshed, webhookPath } from './filters.ts';
import { useOrder } from './live.ts';

const words = consoleText.deliveries;

const pageSize = 50;
/** The server returns no more at once. */
const maxPageSize = 200;
/** A page with a rare filter may be empty, though there are more. */
const maxEmptyPages = 5;

interface DeliveriesProps {
  readonly webhookId: number;
  readonly filters: Filters;
  /** The rows are loaded again when it changes. */
  readonly tick: number;
  readonly advice: Advice;
  /** Called when a delivery was changed here. */
  readonly onChange: () => void;
}

/** The deliveries of a webhook, the newest first, and one of them in full beside them. */
export function Deliveries({ webhookId, filters, tick, advice, onChange }: DeliveriesProps) {
  const { client } = useSession();
  const { deliveryId } = filters;
  const key = webhookPath(webhookId, { ...filters, deliveryId: undefined });
  const current = useRef(key);
  current.current = key;
  const [shown, setShown] = useState<{ readonly key: string; readonly page: DeliveryPage } | undefined>(undefined);
  const page = shown?.key === key ? shown.page : undefined;
  const count = useRef(0);
  count.current = page?.deliveries.length ?? 0;
  const order = useOrder();
  const load = useCallback(async () => {
    const limit = Math.min(maxPageSize, Math.max(pageSize, count.current));
    const isNewest = order();
    const fresh = await loadPage(client, webhookId, filters, limit);
    if (current.current !== key || !isNewest()) return;
    setShown((before) => ({ key, page: refreshed(before?.key === key ? before.page : undefined, fresh) }));
  }, [client, key]);
  const { problem, run, again } = useLoading(words.failed, load);
  useEffect(() => {
    if (tick > 0) run(load);
  }, [tick]);
  const more = async () => {
    if (!page || page.next === null) return;
    const older = await loadPage(client, webhookId, filters, pageSize, page.next);
    if (current.current !== key) return;
    setShown({ key, page: { ...older, deliveries: [...page.deliveries, ...older.deliveries] } });
  };

  const acts = useDeliveryActs(onChange);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setChosen(new Set()), [key]);
  const selected = page?.deliveries.filter(({ delivery_id }) => chosen.has(delivery_id)) ?? [];

  const close = () => {
    navigate(key);
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-delivery="${deliveryId}"] a`)?.focus());
  };
  return (
    <section class={`deliveries${deliveryId === undefined ? '' : ' has-pane'}`} aria-label={words.title}>
      <div class="deliveries-list">
        <h2>{words.title}</h2>
        <DeliveryFilters
          filters={filters}
          onChange={(part) => navigate(webhookPath(webhookId, { ...filters, ...part }))}
        />
        <Problem words={problem} onRetry={again} />
        <Selection selected={selected} acts={acts} onDone={() => setChosen(new Set())} />
        {page && page.deliveries.length > 0 && (
          <DeliveriesTable
            deliveries={page.deliveries}
            openId={deliveryId}
            pathOf={(id) => webhookPath(webhookId, { ...filters, deliveryId: id })}
            chosen={chosen}
            onChoose={setChosen}
          />
        )}
        {page?.deliveries.length === 0 && page.next === null && (
          <NoDeliveries
            isFiltered={isFiltered(filters)}
            onClear={() => navigate(webhookPath(webhookId, { ...noFilters, deliveryId }))}
          />
        )}
        {page && page.next !== null && (
          <More key={`${key} ${page.next}`} failed={words.moreFailed} onMore={more} isEager={false} />
        )}
      </div>
      {deliveryId !== undefined && (
        <DeliveryPane
          key={deliveryId}
          deliveryId={deliveryId}
          tick={tick}
          advice={advice}
          onChange={onChange}
          onClose={close}
        />
      )}
    </section>
  );
}

/** Returns the next rows. Passes over pages that are empty. */
async function loadPage(
  client: Client,
  webhook_id: number,
  { state, event, chatId, since, until }: Filters,
  limit: number,
  before?: number,
): Promise<DeliveryPage> {
  const wanted = { webhook_id, state, event, chat_id: chatId, since, until, limit };
  let next = before;
  for (let tries = 0; tries < maxEmptyPages; tries++) {
    const page = await client.webhooks.deliveries({ ...wanted, before_id: next });
    const after = page.has_more ? page.next : null;
    if (page.deliveries.length > 0 || after === null) return { deliveries: page.deliveries, next: after };
    next = after;
  }
  return { deliveries: [], next: next ?? null };
}

interface SelectionProps {
  readonly selected: readonly Delivery[];
  readonly acts: ReturnType<typeof useDeliveryActs>;
  readonly onDone: () => void;
}

/** What can be done with the rows that are selected. */
function Selection({ selected, acts, onDone }: SelectionProps) {
  const [asked, setAsked] = useState<readonly number[] | undefined>(undefined);
  const open = selected.filter(isOpen);
  const idsOf = (rows: readonly Delivery[]) => rows.map(({ delivery_id }) => delivery_id);
  return (
    <>
      <div class="selection" role="status">
        {acts.progress !== '' && (
          <>
            <p>{acts.progress}</p>
            <button type="button" class="button quiet" onClick={acts.stop}>
              {words.stop}
            </button>
          </>
        )}
        {selected.length > 0 && acts.progress === '' && (
          <>
            <p>{words.selected(selected.length)}</p>
            <button
              type="button"
              class="button"
              onClick={() => {
                // From the oldest on, as they happened.
                acts.redeliver(idsOf(selected.toReversed()));
                onDone();
              }}
            >
              {words.redeliver}
            </button>
            {open.length > 0 && (
              <button type="button" class="button quiet" onClick={() => setAsked(idsOf(open))}>
                {words.skip}
              </button>
            )}
          </>
        )}
      </div>
      {asked && (
        <ConfirmDialog
          title={words.skipTitle}
          act={words.skip}
          onConfirm={async () => {
            await acts.skipAll(asked);
            onDone();
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>{words.skipQuestion(asked.length)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function NoDeliveries({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered)
    return (
      <EmptyState icon="clock" title={words.empty}>
        {words.emptyHint}
      </EmptyState>
    );
  return (
    <EmptyState
      icon="search"
      title={words.noMatch}
      actions={
        <button type="button" class="button quiet" onClick={onClear}>
          {words.filters.clear}
        </button>
      }
    >
      {words.noMatchHint}
    </EmptyState>
  );
}
