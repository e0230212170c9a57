/** @jsxImportSource hono/jsx */
import type { Webhook, WebhookId } from '@parley/contract';
import { requireRecentPassword } from '../auth/recent-password.ts';
import { isShortSecret, unknownEventFault } from '../operations/webhook-warnings.ts';
import { callOperation } from './call.ts';
import { Boxes, Field, PostForm } from './fields.tsx';
import { attempt, RejectedForm } from './form.ts';
import { idIn } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { Card, Confirm, Item, Items } from './parts.tsx';
import { type PageContext, requireAdministrator, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { Time } from './time.tsx';

const path = '/admin/webhooks';

/** The administrator's own webhooks that receive the events of the whole service. */
export function serviceWebhookPages(site: Site, deps: SiteDeps): void {
  site.get(path, (c) => webhooksPage(c, deps, requireAdministrator(c)));

  site.get(`${path}/new`, (c) => {
    // Asks for the password before the form is filled in.
    requireRecentPassword(requireAdministrator(c).caller, deps.services.now(), path);
    return newWebhookPage(c);
  });

  site.post(`${path}/new`, async (c) => {
    const who = requireAdministrator(c);
    const { form } = c.var;
    const registered = await attempt(c, () =>
      callOperation(deps, c, who, 'webhooks.register', {
        url: form.get('url').trim(),
        events: form
          .get('events')
          .split(/[\s,]+/)
          .filter(Boolean),
        secret: form.get('secret'),
        service_wide: true,
        include_direct: form.get('include_direct') === 'yes',
      }),
    );
    if (registered instanceof RejectedForm) return newWebhookPage(c, registered);
    return goTo(c, path, isShortSecret(form.get('secret')) ? 'webhook-short-secret' : 'webhook-registered');
  });

  site.post(`${path}/:id/delete`, async (c) => {
    const who = requireAdministrator(c);
    await callOperation(deps, c, who, 'webhooks.delete', { webhook_id: idIn<WebhookId>(c, 'id') });
    return goTo(c, path, 'webhook-deleted');
  });
}

/** Returns all service-wide webhooks of the user. */
async function listOwn(c: PageContext, deps: SiteDeps, who: SignedIn): Promise<Webhook[]> {
  const found: Webhook[] = [];
  for (let after_id = 0; ; ) {
    const { webhooks, has_more } = await callOperation(deps, c, who, 'webhooks.list', { after_id });
    found.push(...webhooks.filter(({ service_wide }) => service_wide));
    const last = webhooks.at(-1);
    if (!has_more || !last) return found;
    after_id = last.webhook_id;
  }
}

async function webhooksPage(c: PageContext, deps: SiteDeps, who: SignedIn): Promise<Response> {
  const items = (await listOwn(c, deps, who)).map(webhookItem);
  return show(
    c,
    { title: 'Service-wide webhooks', section: path },
    <>
      <p>They send events of all chats to an endpoint. You see those that you registered.</p>
      <p>
        <a class="button" href={`${path}/new`}>
          Register a webhook
        </a>
      </p>
      <Card title="Your service-wide webhooks">
        <Items none="You have registered no service-wide webhook." items={items} />
      </Card>
    </>,
  );
}

function webhookItem({ webhook_id, url, events, unknown_events, status, include_direct, created_at }: Webhook) {
  const faults = unknown_events.map((name) => (
    <div class="fault">
      <code>{name}</code> {unknownEventFault(name)}
    </div>
  ));
  return (
    <Item
      heading={<bdi>{url}</bdi>}
      facts={{
        Events: events.join(', '),
        'Unknown events': faults.length > 0 ? faults : undefined,
        'Direct chats': include_direct ? 'Included' : 'Left out',
        Status: status === 'active' ? 'Active' : <span class="fault">Disabled</span>,
        Created: <Time at={Date.parse(created_at)} />,
      }}
      action={
        <Confirm label="Delete" about={url} action={`${path}/${webhook_id}/delete`}>
          <p>The endpoint receives nothing more, also not what waits for it.</p>
        </Confirm>
      }
    />
  );
}

function newWebhookPage(c: PageContext, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: 'Register a service-wide webhook', section: path, back: 'All webhooks' },
    <PostForm action={`${path}/new`} button="Register the webhook" rejected={rejected} class="card room">
      <Field name="url" label="URL" hint="The endpoint: http or https." rejected={rejected} autofocus={!rejected} />
      <Field
        name="events"
        label="Events"
        hint="Names with spaces between them, or * for all."
        value="*"
        rejected={rejected}
      />
      <Field
        name="secret"
        label="Secret"
        type="password"
        hint="Signs the deliveries. Use a long random value, and give it to the endpoint."
        autocomplete="new-password"
        rejected={rejected}
      />
      <Boxes
        type="checkbox"
        name="include_direct"
        label="Direct chats"
        choices={{ yes: 'Include direct chats' }}
        rejected={rejected}
      />
    </PostForm>,
    rejected?.status,
  );
}
