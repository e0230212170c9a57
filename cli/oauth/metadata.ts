import { type Asked, exchange } from './exchange.ts';

/** What an authorization server says of itself (RFC 8414), as far as it is needed here. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
  /** Whether it names itself where it sends the browser back to (RFC 9207). */
  readonly namesItself: boolean;
}

export async function discover(asked: Asked): Promise<AuthorizationServer> {
  const { server } = asked;
  const { body } = await exchange(asked, `${server}/.well-known/oauth-authorization-server`);
  const { issuer } = body ?? {};
  if (body === undefined || typeof issuer !== 'string' || !URL.canParse(issuer)) {
    throw new Error(
      `One cannot sign in to ${server} from here: it is not Parley, or an older one. Use an access token: PARLEY_TOKEN`,
    );
  }
  requireSameOrigin(server, issuer);
  const endpoint = (name: string): string => {
    const address = body[name];
    // Elsewhere it could have our secrets, and we would open whatever it is in a browser.
    if (typeof address === 'string' && URL.canParse(address) && originOf(address) === originOf(issuer)) return address;
    throw new Error(`What ${server} says of itself has no ${name} of its own.`);
  };
  return {
    issuer,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    revocationEndpoint: endpoint('revocation_endpoint'),
    namesItself: body.authorization_response_iss_parameter_supported === true,
  };
}

/** One that is reached at another address than its own would send the browser, and its tokens, to where that leads. */
function requireSameOrigin(server: string, issuer: string): void {
  if (originOf(server) === originOf(issuer)) return;
  throw new Error(`The server at ${server} has another address of its own. Use that: --url ${issuer}`);
}

const originOf = (address: string) => new URL(address).origin;
