import { allChats, backlogsOf, beginBacklog } from '../store/backlogs.ts';
import type { Engine } from '../store/engine.ts';
import { findWebhook, lockWebhooks, readPosition } from '../store/webhooks.ts';
import { type Drive, isStuck } from './drive.ts';
import { type Filled, fillBacklog, fillReplay } from './fill.ts';

/** Beyond so many waiting deliveries the log itself is the backlog: a dead endpoint must not cost a row for each event. */
const mostWaiting = 1_000;

/** The same for a single chat whose first delivery waits to be tried again. Others go on meanwhile. */
const mostBehindStuck = 100;

/** Made out of the log at a time, once fewer than the half of it are waiting. */
const refill = 1_024;

/** Of a replay at a time: it goes on beside the live deliveries, and must not take their place. */
const refillReplay = 128;

/** How often to look closely at a webhook that has plenty waiting. */
const lookMs = 5;

export interface BacklogParts {
  readonly engine: Engine;
  readonly owner: string;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Deliveries were made for a webhook, not before this moment of the steady clock. */
  readonly filled: (drive: Drive, filled: Filled, since: number) => void;
  /** What is known of a webhook is out of date. */
  readonly changed: (drive: Drive) => void;
  readonly failed: (cause: unknown) => void;
}

/** Answers what was made, or nothing where the webhook has to be read again. */
type Task = (() => Promise<Filled | undefined>) | undefined;

/** Sees to it that a webhook has neither too many deliveries waiting nor too few while the log holds more. */
export class Backlogs {
  readonly #parts: BacklogParts;
  readonly #working = new Set<Drive>();

  constructor(parts: BacklogParts) {
    this.#parts = parts;
  }

  /** Whether the log holds something that could be sent. */
  wants(drive: Drive): boolean {
    return this.#working.has(drive) || this.#next(drive) !== undefined;
  }

  /** Called after every attempt, so it looks closely only where there may be something to see. */
  attend(drive: Drive): void {
    const hasMore = drive.backlogs.length > 0 || drive.replays.length > 0;
    if (!hasMore && drive.count <= mostBehindStuck) return;
    if (drive.count >= refill / 2 && performance.now() - drive.backlogsLookedAt < lookMs) return;
    if (this.#working.has(drive) || drive.ended || drive.stale) return;
    drive.backlogsLookedAt = performance.now();
    const task = this.#next(drive);
    if (!task) return;
    this.#working.add(drive);
    const since = this.#parts.monotonic();
    void task()
      .catch((cause) => {
        this.#parts.failed(cause);
        return undefined;
      })
      .then((filled) => {
        this.#working.delete(drive);
        if (drive.ended) return;
        if (filled) this.#parts.filled(drive, filled, since);
        else this.#parts.changed(drive);
      });
  }

  #next(drive: Drive): Task {
    return this.#overflow(drive) ?? this.#refill(drive);
  }

  #overflow(drive: Drive): Task {
    const now = this.#parts.now();
    const has = (chatId: number) => drive.backlogs.some((b) => b.chat_id === chatId);
    if (!has(allChats) && drive.countMoving(now) > mostWaiting) return () => this.#begin(drive, allChats);
    const stuck = drive.stuckLanes(mostBehindStuck, now).find(({ chatId }) => !has(chatId));
    return stuck && (() => this.#begin(drive, stuck.chatId));
  }

  /** From here on the log holds it: from where the backlog of all chats has come to, if there is one. */
  #begin(drive: Drive, chatId: number): Promise<undefined> {
    return this.#parts.engine.writeRelaxed(async (tx) => {
      await lockWebhooks(tx);
      if (!(await findWebhook(tx, drive.webhookId))) return undefined;
      const { dispatched } = await readPosition(tx);
      const ofAll = (await backlogsOf(tx, drive.webhookId)).find((b) => b.chat_id === allChats);
      const after_event = ofAll?.after_event ?? dispatched;
      await beginBacklog(tx, { webhook_id: drive.webhookId, chat_id: chatId, after_event });
      return undefined;
    });
  }

  #refill(drive: Drive): Task {
    const now = this.#parts.now();
    const isDown = drive.health.down_since !== null && drive.count > 0;
    if (isDown || drive.isHeld(now) || drive.webhook.status !== 'active') return undefined;
    const ready = drive.backlogs.find(({ chat_id }) => {
      if (chat_id === allChats) return drive.countMoving(now) < refill / 2;
      const lane = drive.laneOf(chat_id);
      return !lane || (!isStuck(lane, now) && lane.entries.length < mostBehindStuck / 2);
    });
    if (ready) return () => this.#fill(drive, ready.chat_id);
    const replay = drive.replays.find(
      ({ replay_id, reached_event, to_event }) =>
        reached_event < to_event && drive.countInReplay(replay_id) < refillReplay / 2,
    );
    return replay && (() => this.#replay(drive, replay.replay_id));
  }

  #fill(drive: Drive, chatId: number): Promise<Filled | undefined> {
    const { engine, owner } = this.#parts;
    return fillBacklog(engine, owner, drive.webhookId, chatId, chatId === allChats ? refill : mostBehindStuck);
  }

  #replay(drive: Drive, replayId: number): Promise<Filled | undefined> {
    const { engine, owner, now } = this.#parts;
    return fillReplay(engine, owner, drive.webhookId, replayId, refillReplay, now());
  }
}
