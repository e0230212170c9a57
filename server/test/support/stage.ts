import type { UserId } from '@parley/contract';
import { createBot, createBotToken } from '../../auth/bots.ts';
import type { Cast } from './cast.ts';
import type { Client } from './client.ts';
import { eventually } from './eventually.ts';
import { accessOf } from './oauth.ts';
import { picture } from './pictures.ts';
import type { TestServer } from './server.ts';
import { inSession } from './visitor.ts';

/** A URL where nothing listens. */
export const hook = { url: 'http://127.0.0.1:9/', events: ['*'], secret: 's' };

export interface Group {
  readonly chat_id: number;
  /** A message of a user who makes no calls. */
  readonly message_id: number;
  /** A picture of a user who makes no calls, sent into the group. */
  readonly file_id: number;
}

/** A group in which users are named after their roles. It has several owners, so that each may leave. */
export async function openGroup(cast: Cast, ...furtherOwners: readonly Client[]): Promise<Group> {
  const { founder, member, bot, admin, owner, other, powerful } = cast;
  const owners = [owner, powerful, ...furtherOwners];
  const participants = [member, bot, admin, other, ...owners].map(({ userId }) => userId);
  const { chat_id } = (await founder.ok('messages.create_group', { name: 'Group', participants })).group;
  await founder.ok('chats.set_role', { chat_id, user_id: admin.userId, role: 'admin' });
  for (const { userId } of owners) await founder.ok('chats.set_role', { chat_id, user_id: userId, role: 'owner' });
  const file = picture();
  const { message } = await founder.ok('messages.send_message', { chat_id, file });
  return { chat_id, message_id: await say(founder, chat_id), file_id: message.file?.file_id ?? 0 };
}

async function say(by: Client, chat_id: number): Promise<number> {
  return (await by.ok('messages.send_message', { chat_id, content: 'a word' })).message.message_id;
}

let names = 0;

/** The keys of a browser that wants notifications: those of RFC 8291, appendix A. */
export const browserKeys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};

/** The objects that valid calls refer to. Those whose name starts with `new` are created for each call. */
export class Stage implements Group {
  readonly chat_id: number;
  readonly message_id: number;
  readonly file_id: number;
  readonly #server: TestServer;
  readonly #cast: Cast;
  /** The user who creates the caller's own objects. */
  readonly #maker: Client;
  #webhook: Promise<number> | undefined;
  #delivery: Promise<number> | undefined;

  constructor(server: TestServer, cast: Cast, group: Group, maker: Client) {
    this.chat_id = group.chat_id;
    this.message_id = group.message_id;
    this.file_id = group.file_id;
    this.#server = server;
    this.#cast = cast;
    this.#maker = maker;
  }

  /** A member of the group who makes no calls. */
  get member(): number {
    return this.#cast.other.userId;
  }

  /** A user outside of the group. */
  get outsider(): number {
    return this.#cast.outsider.userId;
  }

  /** A new group, for calls that change it. */
  async newChat(): Promise<number> {
    return (await openGroup(this.#cast)).chat_id;
  }

  newMessage(): Promise<number> {
    return say(this.#cast.founder, this.chat_id);
  }

  /** The caller's own message, if the caller may write. */
  newOwnMessage(): Promise<number> {
    const { stranger, root, founder } = this.#cast;
    return say([stranger, root].includes(this.#maker) ? founder : this.#maker, this.chat_id);
  }

  newName(): string {
    return `new${++names}`;
  }

  async newUser(): Promise<number> {
    return (await this.#server.user(this.newName())).userId;
  }

  /** A user with a picture. */
  async pictured(): Promise<number> {
    const { founder } = this.#cast;
    await founder.ok('users.set_avatar', { file: picture() });
    return founder.userId;
  }

  webhook(): Promise<number> {
    this.#webhook ??= this.newWebhook();
    return this.#webhook;
  }

  async newWebhook(): Promise<number> {
    return (await this.#maker.ok('webhooks.register', hook)).webhook.webhook_id;
  }

  async replay(): Promise<number> {
    const input = { webhook_id: await this.newWebhook(), from_event_id: 1 };
    return (await this.#maker.ok('webhooks.replay', input)).replay.replay_id;
  }

  delivery(): Promise<number> {
    this.#delivery ??= this.#deliver();
    return this.#delivery;
  }

  async #deliver(): Promise<number> {
    const webhook_id = await this.webhook();
    const { group } = await this.#maker.ok('messages.create_group', { name: 'To be told of', participants: [] });
    await say(this.#maker, group.chat_id);
    return eventually('the webhook has a delivery', async () => {
      const { deliveries } = await this.#maker.ok('webhooks.deliveries', { webhook_id });
      return deliveries[0]?.delivery_id;
    });
  }

  async newApp(): Promise<number> {
    const { app, bot, powerful } = this.#cast;
    // A bot and an app cannot register one, so they try one of another.
    const maker = this.#maker === bot || this.#maker === app ? powerful : this.#maker;
    const input = { name: 'To be deleted', redirects: ['https://app.example/callback'], confidential: true };
    return (await maker.ok('apps.register', input)).app.app_id;
  }

  /** A bot of the one whose browser calls, and a token of it. */
  async newBot(): Promise<{ user_id: number; token_id: number }> {
    const services = accessOf(this.#server);
    const owner = { userId: this.#cast.powerful.userId as UserId, appId: 0, address: null };
    const bot = await createBot(services, owner, { name: this.newName(), displayName: 'Bot' });
    const made = await createBotToken(services, owner, bot.user_id, { name: 'its own', scopes: ['chats:read'] });
    return { user_id: bot.user_id, token_id: made.token.token_id };
  }

  /** An incoming webhook of the group, of a user who makes no calls. */
  async newHook(): Promise<number> {
    const browser = await inSession(this.#server, this.#cast.founder);
    return (await browser.ok('hooks.create', { chat_id: this.chat_id, name: 'Alerts' })).hook.hook_id;
  }

  async newInvitation(): Promise<number> {
    return (await this.#cast.root.ok('invitations.create', {})).invitation.invitation_id;
  }

  /** The subscription of a browser that nobody has registered. */
  newBrowser(): { endpoint: string; p256dh: string; auth: string } {
    return {
      endpoint: `http://127.0.0.1:9/push/${++names}`,
      ...browserKeys,
    };
  }

  async newSubscription(): Promise<number> {
    const { bot, founder } = this.#cast;
    // A bot has none, so it tries one of another.
    const maker = this.#maker === bot ? founder : this.#maker;
    return (await maker.ok('push.subscribe', this.newBrowser())).subscription.subscription_id;
  }

  async newToken(): Promise<number> {
    const { app, powerful } = this.#cast;
    // An app cannot create one, so it tries one of its user.
    const maker = this.#maker === app ? powerful : this.#maker;
    return (await maker.ok('tokens.create', { name: 'to be revoked' })).token.token_id;
  }
}
