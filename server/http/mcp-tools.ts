import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import {
  type Contract,
  fileField,
  idempotencyKey,
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
  type Resource,
} from '@parley/contract';
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';

/** They manage access itself, or the browser of a person. No agent needs them. */
const leftOut: ReadonlySet<Resource> = new Set<Resource>(['tokens', 'apps', 'bots', 'push', 'hooks', 'invitations']);

/** Actions that only add something. Every other one may change or delete what was there. */
const adding = /^(?:create|add|send|join|pin|typing)(?:_|$)/;

/** Their operations make this service call others. */
const openWorld: ReadonlySet<Resource> = new Set<Resource>(['webhooks']);

/** An operation as agents see it. */
export interface McpTool {
  readonly row: NamedOperation;
  readonly tool: Tool;
}

/** Returns the operations that agents can call, by the names of their tools. */
export function mcpTools(contract: Contract): ReadonlyMap<string, McpTool> {
  return new Map(
    listOperations(contract)
      .filter(isUsable)
      .map((row) => [toolName(row), { row, tool: toolOf(row) }]),
  );
}

/** Returns whether a caller may call an operation: a token without scopes that write sees only what reads. */
export const isOpenTo = ({ scopes, isAdmin }: Caller, { row }: McpTool): boolean =>
  row.scopes.every((scope) => scopes.has(scope) && (scope !== 'admin' || isAdmin));

const toolName = ({ resource, action }: NamedOperation): string => `${resource}_${action}`;

/** It gives nobody lasting access, the response is text, no page has to call it, and no file has to be sent with it. */
function isUsable(row: NamedOperation): boolean {
  if (leftOut.has(row.resource) || row.notForAgents || row.inBrowser) return false;
  if (row.rawFile || isFile(row.output) || isEventStream(row.output)) return false;
  const file = fileField(row.input);
  return file === undefined || !schemaOf(row).required.includes(file);
}

interface InputSchema {
  readonly type: 'object';
  readonly properties: Record<string, object>;
  readonly required: string[];
  readonly [other: string]: unknown;
}

function schemaOf({ input }: Pick<NamedOperation, 'input'>): InputSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return { type: 'object', properties: {}, required: [], ...schema } as InputSchema;
}

/** It becomes the header of the call. */
const keyProperties = schemaOf({
  input: z.object({
    idempotency_key: idempotencyKey.optional().meta({
      description: 'a second call with the same key and input returns the first response, and creates nothing twice',
    }),
  }),
}).properties;

function toolOf(row: NamedOperation): Tool {
  const schema = schemaOf(row);
  const { [fileField(row.input) ?? '']: _, ...properties } = schema.properties;
  return {
    name: toolName(row),
    description: row.summary,
    inputSchema: { ...schema, properties: { ...properties, ...(row.idempotent && keyProperties) } },
    annotations: {
      readOnlyHint: row.method === 'GET',
      destructiveHint: row.method !== 'GET' && !adding.test(row.action),
      openWorldHint: openWorld.has(row.resource),
    },
  };
}
