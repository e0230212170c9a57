import { defaultLimits } from '../limits.ts';
import { botScopes, scopes } from '../scopes.ts';
import { buildContract, type Contract, listOperations, resourceSummaries } from '../table.ts';
import { Failures } from './failures.ts';
import { describeOperation } from './operation.ts';
import { type Json, Schemas } from './schemas.ts';
import { deliveriesTag, describeWebhooks, webhookParameters } from './webhooks.ts';

/**
 * Returns the API as OpenAPI 3.1: one operation for each row, and one webhook for each event. It takes 70 ms in all, so other
 * work of the process comes between the operations.
 */
export async function openApi(contract: Contract = buildContract(defaultLimits), version = '0.1.0'): Promise<Json> {
  const schemas = new Schemas();
  const failures = new Failures();
  const paths: Json = {};
  for (const row of listOperations(contract)) {
    paths[`/${row.resource}/${row.action}`] = { [row.method.toLowerCase()]: describeOperation(row, schemas, failures) };
    await new Promise((resolve) => setImmediate(resolve));
  }
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: description.join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }],
    security: [{ token: [] }, { oauth: [] }],
    tags: [...Object.entries(resourceSummaries).map(([name, description]) => ({ name, description })), deliveriesTag],
    paths,
    webhooks,
    components: {
      securitySchemes,
      parameters: webhookParameters,
      responses: failures.byName,
      schemas: schemas.byName,
    },
  };
}

const description = [
  'A self-hosted chat-messaging service.',
  'Every operation has a second URL: `/messages/send_message` is also `/messages.php?action=send_message`.',
  'A `maxLength` other than 100 is also a limit in bytes of UTF-8. No text has a lone surrogate.',
];

const tokenUrl = '/oauth/token';

const securitySchemes: Json = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: `Scopes: ${Object.entries(scopes)
      .map(([name, words]) => `\`${name}\` (${words})`)
      .join('; ')}`,
  },
  oauth: {
    type: 'oauth2',
    description: 'The authorization code needs PKCE with S256.',
    flows: {
      authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl, refreshUrl: tokenUrl, scopes },
      // The app acts as its bot.
      clientCredentials: { tokenUrl, scopes: Object.fromEntries(botScopes.map((name) => [name, scopes[name]])) },
    },
  },
};
