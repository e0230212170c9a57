import type { z } from 'zod';
import { defaultLimits, type Limits } from './limits.ts';
import type { Operation } from './operation.ts';
import { apps } from './operations/apps.ts';
import { bots } from './operations/bots.ts';
import { chats } from './operations/chats.ts';
import { events } from './operations/events.ts';
import { files } from './operations/files.ts';
import { hooks } from './operations/hooks.ts';
import { invitations } from './operations/invitations.ts';
import { messages } from './operations/messages.ts';
import { push } from './operations/push.ts';
import { serviceOperations } from './operations/service.ts';
import { tokens } from './operations/tokens.ts';
import { users } from './operations/users.ts';
import { webhooks } from './operations/webhooks.ts';

/** Paths below `/api/` that are no operations. A resource of this name could not be called as `/api/<resource>/<action>`. */
type ReservedName = 'uploads' | 'openapi.json';

/** Returns the table: resource → action → row. Everything about the HTTP API derives from it. */
export const buildContract = (limits: Limits) =>
  ({
    messages: messages(limits),
    chats: chats(limits),
    webhooks: webhooks(limits),
    hooks: hooks(limits),
    events: events(limits),
    files: files(limits),
    push: push(limits),
    users: users(limits),
    tokens: tokens(limits),
    apps: apps(limits),
    bots: bots(limits),
    invitations: invitations(limits),
    service: serviceOperations(limits),
  }) satisfies Record<string, object> & { readonly [R in ReservedName]?: never };

export type Contract = ReturnType<typeof buildContract>;
export type Resource = keyof Contract;

export const resourceSummaries: Readonly<Record<Resource, string>> = {
  messages: 'Send, read, change and find messages, and create chats.',
  chats: 'List and change chats, and manage their participants.',
  webhooks: 'Register webhooks, and inspect, retry and replay their deliveries.',
  hooks: 'Create, list and revoke incoming webhooks: secret URLs with which other services post into a chat.',
  events: 'Read and follow the event log.',
  files: 'Upload and download files.',
  push: 'Subscribe browsers to notifications (Web Push).',
  users: 'Find and manage users.',
  tokens: 'Manage access tokens.',
  apps: 'Register OAuth apps.',
  bots: 'Manage your bots.',
  invitations: 'Invite people to sign up.',
  service: 'Name the service, choose what new people see, and see how it does.',
};

/** `messages.send_message`, `chats.list`, … */
export type OperationName = { [R in Resource]: `${R}.${keyof Contract[R] & string}` }[Resource];

type Row<N extends OperationName> = N extends `${infer R extends Resource}.${infer A}`
  ? A extends keyof Contract[R]
    ? Contract[R][A]
    : never
  : never;

/** The types that a handler receives and returns. */
export type Input<N extends OperationName> = Row<N> extends Operation<infer I, infer _> ? z.output<I> : never;
export type Output<N extends OperationName> = Row<N> extends Operation<infer _, infer O> ? z.output<O> : never;

/** The types that a client sends and receives. */
export type ClientInput<N extends OperationName> = Row<N> extends Operation<infer I, infer _> ? z.input<I> : never;
export type ClientOutput<N extends OperationName> = Row<N> extends Operation<infer _, infer O> ? z.input<O> : never;

/** The response is the bytes of a file or an event stream. All other operations return JSON. */
export type FileOperationName = { [N in OperationName]: Output<N> extends File ? N : never }[OperationName];
export type StreamOperationName = { [N in OperationName]: Output<N> extends string ? N : never }[OperationName];
export type JsonOperationName = Exclude<OperationName, FileOperationName | StreamOperationName>;

export interface NamedOperation extends Operation {
  readonly name: OperationName;
  readonly resource: Resource;
  readonly action: string;
}

/** Returns all rows with their names. */
export function listOperations(contract: Contract = buildContract(defaultLimits)): readonly NamedOperation[] {
  return Object.entries(contract).flatMap(([resource, actions]) =>
    Object.entries(actions as Record<string, Operation>).map(([action, row]) => ({
      ...row,
      name: `${resource}.${action}` as OperationName,
      resource: resource as Resource,
      action,
    })),
  );
}
