export * from './errors.ts';
export { eventExamples } from './event-examples.ts';
export { isEventStream } from './event-stream.ts';
export {
  type ChatSignal,
  type EventData,
  type EventName,
  eventNames,
  events as eventTable,
  type NewEvent,
  type OwnerSignal,
  type Signal,
  type SignalName,
  signalNames,
  signals as signalTable,
} from './events.ts';
export { exampleCalls } from './examples.ts';
export type {
  ChatId,
  DeliveryId,
  EventId,
  FileId,
  HookId,
  MessageId,
  ReplayId,
  SubscriptionId,
  TokenId,
  UserId,
  WebhookId,
} from './fields.ts';
export { displayName, fileName, idempotencyKey, idempotencyKeyPattern, title, userName } from './fields.ts';
export { fileField, isFile } from './file-input.ts';
export { defaultLimits, defaultPage, type Limits } from './limits.ts';
export { openApi } from './openapi/document.ts';
export { operationId, schemaName } from './openapi/names.ts';
export { schemaOf } from './openapi/schemas.ts';
export type { Method, Operation } from './operation.ts';
export { hookPost } from './operations/hooks.ts';
export { password } from './operations/users.ts';
export type * from './records.ts';
export * as records from './records.ts';
export { botScopes, type Scope, scopeNames, scopes } from './scopes.ts';
export type * from './service-records.ts';
export * as serviceRecords from './service-records.ts';
export * from './table.ts';
export { type UnstatedRule, unstatedRules } from './unstated-rules.ts';
export { webhookHeaders } from './webhook-headers.ts';
export type * from './webhook-records.ts';
export * as webhookRecords from './webhook-records.ts';
export { deliveryStates, disabledReasons, maxHealthCount, skipReasons } from './webhook-records.ts';
