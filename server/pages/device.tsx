/** @jsxImportSource hono/jsx */
import { errors } from '@parley/contract';
import { type DeviceRequest, devicePage } from '../auth/oauth/oauth.ts';
import { hasRecentPassword } from '../auth/recent-password.ts';
import { askForConsent, isPowerful } from './consent.tsx';
import { Field, PostForm } from './fields.tsx';
import { RejectedForm, throttled } from './form.ts';
import { show } from './layout.tsx';
import { confirmPath, withNext } from './next.ts';
import { Notice, named } from './parts.tsx';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { text } from './text/text.ts';

const words = text.device;

const field = 'user_code';

/**
 * Lets a person allow a device without a browser (RFC 8628). A link can fill in the code, but only a form of this page leads
 * on: whoever sends people a link cannot skip the warning.
 */
export function devicePages(site: Site, deps: SiteDeps): void {
  site.get(devicePage, (c) => {
    requireSignedIn(c);
    return enterPage(c, c.req.query(field));
  });

  site.post(devicePage, async (c) => {
    const who = requireSignedIn(c);
    const { form } = c.var;
    const { user, caller } = who;
    const decider = {
      userId: user.user_id,
      isAdmin: user.is_admin,
      tokenId: caller.tokenId,
      address: c.env.context.clientIp(),
    };
    const found = await deps.oauth.findDevice(form.get(field), decider);
    if (found.outcome === 'throttled') {
      return enterPage(c, '', throttled(c, text.fields.throttles.codes, found.retrySeconds));
    }
    if (found.outcome === 'unknown') return enterPage(c, '', rejected(c, { [field]: text.fields.faults.unknownCode }));
    const decision = form.get('decision');
    if (decision !== 'deny' && isPowerful(user, found.scopes) && !hasRecentPassword(caller, deps.services.now())) {
      return c.redirect(withNext(confirmPath, pageFor(found)), 303);
    }
    // Another user is signed in by now: ask again.
    const isDecided = user.user_id === Number(form.get('user')) && (decision === 'allow' || decision === 'deny');
    if (!isDecided) return ask(c, deps, who, found);
    const end = await deps.oauth.decideDevice(found, decider, decision === 'allow');
    if (end.outcome === 'refused') return enterPage(c, '', rejected(c, {}, end.message));
    return decidedPage(c, found, decision === 'allow');
  });
}

const rejected = (c: PageContext, faults: Readonly<Record<string, string>>, message?: string) =>
  new RejectedForm(c.var.form, errors.validation_failed.status, message, faults);

const pageFor = ({ userCode }: DeviceRequest): string => `${devicePage}?${field}=${userCode}`;

function enterPage(c: PageContext, code = '', faulty?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: words.title, plain: true },
    <>
      <p class="lead">{words.about}</p>
      <PostForm action={devicePage} button={text.common.continue} rejected={faulty} class="card">
        <Field
          name={field}
          label={words.code}
          hint={code === '' ? words.codeHint : words.sameCode}
          value={code}
          rejected={faulty}
          autofocus
        />
        <p>
          {words.warning((warned) => (
            <strong>{warned}</strong>
          ))}
        </p>
      </PostForm>
    </>,
    faulty?.status,
  );
}

function ask(c: PageContext, deps: SiteDeps, who: SignedIn, found: DeviceRequest): Promise<Response> {
  const { client, scopes, userCode } = found;
  return askForConsent(c, deps, who, {
    client,
    scopes,
    action: devicePage,
    page: pageFor(found),
    outcome: words.outcome(<code>{userCode}</code>),
    children: (
      <>
        <input type="hidden" name={field} value={userCode} />
        <Notice kind="bad">{words.onlyYours}</Notice>
      </>
    ),
    refuse: text.consent.deny,
  });
}

function decidedPage(c: PageContext, { client }: DeviceRequest, isAllowed: boolean): Promise<Response> {
  const { title, about } = isAllowed ? words.allowed : words.denied;
  return show(
    c,
    { ...named(client.name, title), plain: true },
    <div class="card">
      <p>{about}</p>
      {isAllowed && <p class="muted">{words.allowed.note}</p>}
      <p>
        <a href="/">{text.common.goToChats}</a>
      </p>
    </div>,
  );
}
