import fc from 'fast-check';
import { buildPages } from '../../../server/pages/index.ts';
import type { SiteDeps } from '../../../server/pages/site.ts';
import { elsewhere, headerText, wildText } from '../calls/wild.ts';
import { percent } from '../calls/write.ts';
import { type Caller, callers, type People } from '../people.ts';
import { type Drawn, type Subject, subject } from '../subject.ts';
import type { Target } from '../target.ts';

/** Every registered page and form. */
const routes = buildPages({} as SiteDeps)
  .routes.filter(({ method, path }) => ['GET', 'POST'].includes(method) && path !== '/*')
  .map(({ method, path }) => ({ method, path }));

/** Forms that delete what others need: a session, an account, a token. */
const spoiling = /sign-out|password|revoke|disable|administrator|delete|secret/;

/** The names of form fields in the HTML of a page. */
const fieldName = /<(?:input|select|textarea)[^>]* name="([^"]+)"/g;

const parameter = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 30 }).map((id) => String(id)) },
  fc.constantFrom('0', '-1', '9007199254740993', '1e3', '..', '%2e%2e', '%00', '%ff', 'a%2Fb', '%', '__proto__'),
  wildText.map((text) => percent(text).slice(0, 300) || '0'),
);

const words = ['', 'yes', 'no', 'allow', 'deny', 'name', 'https://app.example/cb', 'messages:read', '/sessions'];
const typed = fc.oneof(fc.constantFrom(...words), fc.nat({ max: 30 }).map(String), elsewhere, wildText);

const queryNames = ['next', 'done', 'page', 'q', 'after', 'before', 'act', 'user'];

const visits = fc.record({
  route: fc.constantFrom(...routes),
  parameters: fc.array(parameter, { minLength: 2, maxLength: 2 }),
  query: fc.array(fc.tuple(fc.constantFrom(...queryNames), typed), { maxLength: 2 }),
  fields: fc.array(fc.tuple(fc.nat({ max: 60 }), typed), { maxLength: 6 }),
  caller: fc.oneof(fc.constant<Caller>('browser'), fc.constantFrom(...callers)),
  isOurs: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  headers: fc.oneof<fc.Arbitrary<Readonly<Record<string, string>>>[]>(
    fc.constant({}),
    fc.record({ referer: headerText }),
    fc.record({ cookie: headerText.map((text) => `parley_session=${text}; parley_device=${text}`) }),
  ),
});

type Visit = Drawn<typeof visits>;

/** Visits of a signed-in user to a page that redirects at once. */
const onward: fc.Arbitrary<Visit> = fc.tuple(visits, fc.oneof(elsewhere, wildText)).map(([visit, next]) => ({
  ...visit,
  route: { method: 'GET', path: '/sign-in' },
  query: [['next', next]],
  caller: 'browser',
  headers: {},
}));

async function judge({ route }: Visit, response: Response): Promise<void> {
  const { status, headers } = response;
  const text = await response.text();
  if (status === 431) return;
  if (status >= 500) throw new Error(`${route.path} returns ${status}`);
  if (!headers.has('x-request-id')) throw new Error(`${route.path} has no X-Request-Id`);
  if (!headers.get('content-security-policy')?.startsWith("default-src 'none'")) {
    throw new Error(`${route.path} has no policy`);
  }
  if (
    headers.get('content-type')?.startsWith('text/html') &&
    /<script(?! type="module" src="\/[\w./-]+"><\/script>)|\son[a-z]+=/i.test(text)
  ) {
    throw new Error(`${route.path} runs something`);
  }
  const location = headers.get('location');
  if (location === null) return;
  // Only this page redirects to apps.
  const isOurs = /^\/(?![/\\])/.test(location) && new URL(location, 'http://ours').origin === 'http://ours';
  if (!isOurs && route.path !== '/oauth/authorize') throw new Error(`${route.path} leads to ${location}`);
}

export function pageSubjects(target: () => Target): readonly Subject[] {
  let known: readonly string[] | undefined;
  const fieldNames = async ({ credentials }: People): Promise<readonly string[]> => {
    if (known) return known;
    const found = new Set<string>();
    for (const { method, path } of routes) {
      if (method !== 'GET' || path.includes(':')) continue;
      const page = await target().send(path, { headers: { accept: 'text/html', ...credentials.browser } });
      for (const [, name = ''] of (await page.text()).matchAll(fieldName)) found.add(name);
    }
    known = [...found, 'decision', 'user', 'administrator', 'next', '__proto__'];
    return known;
  };
  const make = async ({ route, parameters, query, fields, caller, isOurs, headers }: Visit): Promise<Response> => {
    const people = await target().people();
    const names = await fieldNames(people);
    const left = [...parameters];
    const path = route.path.replace(/:\w+/g, () => left.shift() ?? '1');
    const search = query.map(([name, value]) => `${name}=${percent(value)}`).join('&');
    const body = fields.map(([i, value]) => `${percent(names[i % names.length] ?? '')}=${percent(value)}`).join('&');
    const response = await target().send(`${path}${search === '' ? '' : `?${search}`}`, {
      method: route.method,
      headers: {
        ...{ accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
        ...people.credentials[caller],
        ...headers,
        ...(isOurs && { 'sec-fetch-site': 'same-origin' }),
      },
      ...(route.method === 'POST' && { body }),
    });
    if (route.method === 'POST' && response.status === 303 && spoiling.test(route.path)) target().spoil();
    return response;
  };
  const sound = (drawn: fc.Arbitrary<Visit>) => fc.asyncProperty(drawn, async (one) => judge(one, await make(one)));
  return [subject('pages and forms', 150, sound(visits)), subject('where pages lead on to', 60, sound(onward))];
}
