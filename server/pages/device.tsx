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
      return enterPage(c, '', throttled(c, 'There were too many wrong codes.', found.retrySeconds));
    }
    if (found.outcome === 'unknown') return enterPage(c, '', rejected(c, { [field]: unknownCode }));
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

const unknownCode = 'code is unknown or has expired. Compare it with your device, or start again there';

const rejected = (c: PageContext, faults: Readonly<Record<string, string>>, message?: string) =>
  new RejectedForm(c.var.form, errors.validation_failed.status, message, faults);

const pageFor = ({ userCode }: DeviceRequest): string => `${devicePage}?${field}=${userCode}`;

function enterPage(c: PageContext, code = '', faulty?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: 'Connect a device', plain: true },
    <>
      <p class="lead">A program on another device wants to use your account. It shows a code.</p>
      <PostForm action={devicePage} button="Continue" rejected={faulty} class="card">
        <Field
          name={field}
          label="Code"
          hint={code === '' ? 'Eight letters, such as BCDF-GHJK.' : 'Check that your device shows the same code.'}
          value={code}
          rejected={faulty}
          autofocus
        />
        <Warning />
      </PostForm>
    </>,
    faulty?.status,
  );
}

const Warning = () => (
  <p>
    <strong>Did somebody send you the code, or a link to this page? Stop here.</strong> They would get access to your
    account. Continue only if you have just started this yourself.
  </p>
);

function ask(c: PageContext, deps: SiteDeps, who: SignedIn, found: DeviceRequest): Promise<Response> {
  const { client, scopes, userCode } = found;
  return askForConsent(c, deps, who, {
    client,
    scopes,
    action: devicePage,
    page: pageFor(found),
    outcome: (
      <>
        If you allow it, the device with the code <code>{userCode}</code> gets access.
      </>
    ),
    children: (
      <>
        <input type="hidden" name={field} value={userCode} />
        <Notice kind="bad">
          Allow this only if the device is yours and shows this code. If somebody sent you the code, deny it.
        </Notice>
      </>
    ),
    refuse: 'Deny',
  });
}

function decidedPage(c: PageContext, { client }: DeviceRequest, isAllowed: boolean): Promise<Response> {
  return show(
    c,
    { ...named(client.name, '', isAllowed ? ' can use your account now' : ' got no access'), plain: true },
    <div class="card">
      {isAllowed ? (
        <>
          <p>Go back to your device. It continues within a few seconds. You can close this window.</p>
          <p class="muted">You can end its access at any time under Access.</p>
        </>
      ) : (
        <p>The device was told. You can close this window.</p>
      )}
      <p>
        <a href="/">Go to your chats</a>
      </p>
    </div>,
  );
}
