/** The protocol itself. It is loaded with the first request, because few servers have agents. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { type Contract, idempotencyKeyPattern } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import { isOpenTo, type McpTool, mcpTools } from './mcp-tools.ts';

/** Calls an operation as the caller. Returns the response of the API. */
export type CallOperation = (row: McpTool['row'], input: Input, idempotencyKey?: string) => Promise<Response>;

type Input = Readonly<Record<string, unknown>>;

const instructions =
  'Parley is a chat service. Messages are Markdown. Lists come in pages: `has_more` says whether there is another, and the fields `before_id`, `after_id` and `after` of a tool say how to get it. messages_get_messages starts with the newest messages, in ascending order: pass the first message_id of a page as before_id to get older ones. The resource parley://events is the event log from the oldest event on, and parley://events?after=now starts now; `next` in it is the cursor for `after`.';

/** Shared, because each compiles its schemas. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

const eventLog = {
  name: 'Event log',
  description: 'What has happened in your chats, in the order of commits',
  mimeType: 'application/json',
} as const;

/** `parley://events` or `parley://chats/1/events`, with a cursor if there is one, or `now`. */
const eventsUri = /^parley:\/\/(?:chats\/(\d{1,16})\/)?events(?:\?after=(\d{1,16}|now))?$/;

/** Returns a function that responds to one message of an agent. Nothing is kept between messages. */
export function mcpResponder(contract: Contract, version: string) {
  const tools = mcpTools(contract);
  const events = toolNamed('events_list');
  const chats = toolNamed('chats_list');
  return async (request: Request, message: object, caller: Caller, call: CallOperation): Promise<Response> => {
    const server = new Server(
      { name: 'parley', version },
      { capabilities: { tools: {}, resources: {} }, instructions, jsonSchemaValidator },
    );
    const canReadEvents = isOpenTo(caller, events);

    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [...tools.values()].filter((one) => isOpenTo(caller, one)).map(({ tool }) => tool),
    }));

    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      const found = tools.get(params.name);
      if (!found || !isOpenTo(caller, found)) {
        throw new McpError(
          ErrorCode.InvalidParams,
          `There is no tool ${params.name}, or the access token lacks its scope.`,
        );
      }
      const { key, input } = withoutKey(found, params.arguments ?? {});
      const response = await call(found.row, input, key);
      return { content: [{ type: 'text', text: (await response.text()).trim() }], isError: !response.ok };
    });

    server.setRequestHandler(ListResourcesRequestSchema, () => ({
      resources: canReadEvents ? [{ uri: 'parley://events', ...eventLog }] : [],
    }));

    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: canReadEvents
        ? ['parley://events{?after}', 'parley://chats/{chat_id}/events{?after}'].map((uriTemplate) => ({
            uriTemplate,
            ...eventLog,
          }))
        : [],
    }));

    server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
      const match = eventsUri.exec(uri);
      if (!match || !canReadEvents) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}.`);
      const [, chatId, after] = match;
      const input = {
        ...(chatId !== undefined && { chat_id: Number(chatId) }),
        ...(after !== undefined && { after: after === 'now' ? await newestEvent(caller, call) : Number(after) }),
      };
      const response = await call(events.row, input);
      const text = (await response.text()).trim();
      if (!response.ok) throw new McpError(ErrorCode.InvalidParams, text);
      return { contents: [{ uri, mimeType: 'application/json', text }] };
    });

    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: message });
    } finally {
      await server.close();
    }
  };

  function toolNamed(name: string): McpTool {
    const found = tools.get(name);
    if (!found) throw new Error(`there is no tool ${name}`);
    return found;
  }

  /** Returns the cursor of what happens from now on, which a list of chats has. */
  async function newestEvent(caller: Caller, call: CallOperation): Promise<number> {
    if (!isOpenTo(caller, chats)) {
      throw new McpError(ErrorCode.InvalidParams, 'after=now needs an access token with the scope chats:read.');
    }
    const response = await call(chats.row, { limit: 1 });
    const text = await response.text();
    if (!response.ok) throw new McpError(ErrorCode.InvalidParams, text.trim());
    return (JSON.parse(text) as { readonly event_id: number }).event_id;
  }
}

/** Takes the key out of the arguments of a tool that has one. Throws for a key that no header could have. */
function withoutKey({ row }: McpTool, given: Input): { key?: string; input: Input } {
  if (!row.idempotent || given.idempotency_key === undefined) return { input: given };
  const { idempotency_key: key, ...input } = given;
  if (typeof key === 'string' && idempotencyKeyPattern.test(key)) return { key, input };
  throw new McpError(
    ErrorCode.InvalidParams,
    'idempotency_key must be 1 to 255 printable ASCII characters without spaces.',
  );
}
