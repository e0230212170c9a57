import { botScopes, scopeNames } from '@parley/contract';
import { grantTypes } from './library.ts';

export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  device: '/oauth/device_authorization',
  metadata: '/.well-known/oauth-authorization-server',
  resourceMetadata: '/.well-known/oauth-protected-resource/mcp',
  /** Some agents look only here. */
  rootResourceMetadata: '/.well-known/oauth-protected-resource',
} as const;

/** Where a person enters the code of a device. */
export const devicePage = '/device';

const authentication = ['client_secret_basic', 'client_secret_post', 'none'];

/** The metadata for client libraries (RFC 8414). */
export const metadata = (issuer: string): object => ({
  issuer,
  authorization_endpoint: issuer + oauthPaths.authorize,
  token_endpoint: issuer + oauthPaths.token,
  revocation_endpoint: issuer + oauthPaths.revoke,
  device_authorization_endpoint: issuer + oauthPaths.device,
  scopes_supported: scopeNames,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: grantTypes,
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: authentication,
  revocation_endpoint_auth_methods_supported: authentication,
  authorization_response_iss_parameter_supported: true,
});

/** The resource that agents use (RFC 9728). They ask for all its scopes, so those of administrators and apps are left out. */
export const resourceMetadata = (issuer: string): object => ({
  resource: `${issuer}/mcp`,
  resource_name: 'Parley',
  authorization_servers: [issuer],
  scopes_supported: botScopes,
  bearer_methods_supported: ['header'],
});
