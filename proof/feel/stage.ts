import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { Engine } from '../../server/store/engine/engine.ts';
import type { Client } from '../../server/test/support/client.ts';
import { attach, type TestServer } from '../../server/test/support/server.ts';
import { launchChromium, profileOf } from '../harness/browser.ts';
import { Server } from '../harness/server.ts';
import { environment, inParallel, makeGroup } from '../harness/stage.ts';

/** By then the client has stored what it shows, and the parts of it that it needs later. A visit before is no warm one. */
export const settleMs = 4_000;

export const screen = { width: 1280, height: 800 };

/** A server with two people, and a browser. */
export class Stage implements AsyncDisposable {
  readonly url: string;
  readonly ada: Client;
  readonly bob: Client;
  readonly browser: Browser;
  readonly #admin: TestServer;
  readonly #ends: AsyncDisposableStack;

  private constructor(
    admin: TestServer,
    people: readonly [Client, Client],
    browser: Browser,
    ends: AsyncDisposableStack,
  ) {
    this.#admin = admin;
    this.url = admin.url;
    [this.ada, this.bob] = people;
    this.browser = browser;
    this.#ends = ends;
  }

  static async open(): Promise<Stage> {
    await using ends = new AsyncDisposableStack();
    const env = environment();
    const server = await Server.start(env);
    ends.defer(() => server.kill());
    const admin = await attach(server.url, env);
    const people = [await admin.user('ada'), await admin.user('bob')] as const;
    const browser = await launchChromium();
    ends.defer(() => browser.close());
    return new Stage(admin, people, browser, ends.move());
  }

  /** Starts one more browser. It runs until the stage is closed: the time of a browser that has ended would count as that of others. */
  async newBrowser(): Promise<Browser> {
    const browser = await launchChromium();
    this.#ends.defer(() => browser.close());
    return browser;
  }

  /** Returns an empty browser profile in which somebody is signed in. */
  profile(
    who: Client,
    browser = this.browser,
    device: BrowserContextOptions = { viewport: screen },
  ): Promise<BrowserContext> {
    return profileOf(browser, this.#admin, { userId: who.userId, url: this.url }, device);
  }

  /** Makes a chat with so many messages, all of them read. */
  async longChat(count: number): Promise<number> {
    const chat = await makeGroup(this.ada, [this.bob], 'Long');
    await fill(this.#admin.engine, [this.ada, this.bob], chat, count);
    // It becomes the newest message, which the copies are not known as.
    await this.bob.ok('messages.send_message', { chat_id: chat, content: 'The last one' });
    await this.ada.ok('messages.mark_read', { chat_id: chat });
    return chat;
  }

  /** Makes chats with one message each. */
  async manyChats(count: number): Promise<void> {
    await inParallel(16, count, async (i) => {
      const chat_id = await makeGroup(this.bob, [this.ada], `${topics[i % topics.length]} ${i}`);
      await this.bob.ok('messages.send_message', { chat_id, content: texts[i % texts.length] ?? '' });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }
}

const topics = ['Budget', 'Launch', 'Hiring', 'Office', 'Support', 'Design', 'Release', 'Garden'];

const sentence = 'The quarterly figures are in the shared folder; could you look at page 3 before noon? ';

/** What people write: mostly short, at times long, with Markdown in places. */
const texts: readonly string[] = [
  'Good morning!',
  sentence,
  'ok',
  `See [the plan](https://example.com/plan) and **do not** forget:\n\n- water\n- _bread_\n- \`salt\``,
  sentence.repeat(3),
  '👍',
  '```ts\nexport const answer = (question: string): number => question.length % 42;\nconsole.log(answer("why"));\n```',
  'Does anybody know where the key of the meeting room is?',
  'On my desk.',
  `> ${sentence}\n\nI did. It is fine, except for the second table:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |`,
  sentence.repeat(8),
  'Thanks!',
];

/** Rows in one transaction: the server cannot write meanwhile. */
const maxBatch = 20_000;

/**
 * Fills a chat from beside the server: to send so many would take too long. Sends a few messages of each kind, and copies
 * their rows in turn, with new ids and without events.
 */
async function fill(engine: Engine, authors: readonly Client[], chatId: number, count: number): Promise<void> {
  const models: number[] = [];
  for (let i = 0; i < texts.length * 3; i++) {
    // The same author writes a few messages in a row.
    const author = authors[Math.floor(i / 3) % authors.length] as Client;
    const content = texts[(i * 5) % texts.length] as string;
    const { message } = await author.ok('messages.send_message', { chat_id: chatId, content });
    models.push(message.message_id);
  }
  const { length } = models;
  for (let left = count - length; left > 0; left -= maxBatch) {
    const size = Math.min(left, maxBatch);
    await engine.write(async (tx) => {
      const { messages } = await tx.takeIds({ messages: size, events: 0 });
      const first = Number(messages[0]);
      const id = `(${first} + i)`;
      await tx.run(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${size})
         INSERT INTO messages (message_id, chat_id, user_id, is_deleted, extras, json)
         SELECT ${id}, chat_id, user_id, is_deleted, extras,
           replace(json, '"message_id":' || message_id, '"message_id":' || ${id})
         FROM n JOIN messages ON message_id = ${models[0]} + i % ${length}`,
      );
    });
  }
}
