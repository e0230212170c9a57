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
import type { Contract } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import { isOpenTo, type McpTool, mcpTools } from './mcp-tools.ts';

/** Calls an operation as the caller. Returns the response of the API. */
export type CallOperation = (row: McpTool['row'], input: Readonly<Record<string, unknown>>) => Promise<Response>;

const instructions =
  'Parley is a chat service. Messages are Markdown. Lists come in pages: pass the last id of a page to get the next one. The resource parley://events is the event log; `next` in it is the cursor for `after`.';

const eventLog = {
  name: 'Event log',
  description: 'What has happened in your chats, in the order of commits',
  mimeType: 'application/json',
} as const;

/** `parley://events` or `parley://chats/1/events`, with a cursor if there is one. */
const eventsUri = /^parley:\/\/(?:chats\/(\d{1,16})\/)?events(?:\?after=(\d{1,16}))?$/;

/** Returns a function that responds to one message of an agent. Nothing is kept between messages. */
export function mcpResponder(contract: Contract, version: string) {
  const tools = mcpTools(contract);
  const events = tools.get('events_list');
  if (!events) throw new Error('the contract has no events.list');
  return async (request: Request, message: object, caller: Caller, call: CallOperation): Promise<Response> => {
    const server = new Server(
      { name: 'parley', version },
      { capabilities: { tools: {}, resources: {} }, instructions },
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
      const response = await call(found.row, params.arguments ?? {});
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
        ...(after !== undefined && { after: Number(after) }),
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
}
