import { Authenticator } from '../auth/authenticate.ts';
import { Passwords } from '../auth/passwords.ts';
import type { SignInServices } from '../auth/services.ts';
import { showSettings } from '../config.ts';
import { Pictures } from '../files/pictures.ts';
import { Thumbnails } from '../files/thumbnails.ts';
import { DailyMessages } from '../operations/daily-messages.ts';
import type { Services } from '../operations/operation.ts';
import { sumFileBytes } from '../store/access/owner-use.ts';
import { recordTokenUses } from '../store/access/token-use.ts';
import { number } from '../store/engine/query.ts';
import { type Cleanup, type Core, deriveKey, quotasOf, version } from './core.ts';
import { buildDelivery } from './delivery.ts';
import { buildFiles } from './files.ts';
import { localUrl } from './listening.ts';
import { buildLive, type Live } from './live.ts';
import { buildPush } from './push.ts';
import { ScheduledBackups } from './scheduled-backups.ts';

export type Parts = Awaited<ReturnType<typeof buildParts>>;

/** Builds the parts behind HTTP. `ownPort` returns the port once the server listens. */
export async function buildParts(core: Core, ownPort: () => number | undefined, cleanup: Cleanup) {
  const { settings, runtime, engine, key } = core;
  const { now, random } = runtime;
  const origin = () => settings.publicUrl?.origin ?? localUrl(settings, ownPort());
  const quotas = quotasOf(settings);
  const authenticator = new Authenticator(engine, now);
  const delivery = buildDelivery(
    core,
    ownPort,
    () => live.nodes.webhooksChanged(),
    (...changed) => live.services.deliveriesChanged(...changed),
  );
  const push = buildPush(core, delivery, () => live, origin);
  const files = await buildFiles(core, origin, (upload) => live.nodes.wantUpload(upload));
  const live: Live = buildLive(core, {
    forgetUsers: (userIds) => authenticator.forget(userIds),
    webhooksChanged: () => void delivery.worker.webhooksChanged(),
    uploadWanted: (upload) => files.locks.interrupt(upload),
  });
  cleanup.push(() => live.nodes.stop());
  const pictures = new Pictures();
  const services: Services & SignInServices = {
    engine,
    now,
    random,
    passwords: new Passwords(settings.passwordCost),
    ...live.services,
    requireRoom: core.disk.requireRoom,
    quotas,
    dailyMessages: new DailyMessages(engine, now, quotas),
    webhooks: delivery.services,
    push: push.services,
    files: files.services,
    messageLink: (messageId) => `${origin()}/m/${messageId}`,
    signUp: settings.signUp,
    invitationLink: (secret) => `${origin()}/invitation/${secret}`,
    hookUrl: (secret) => `${origin()}/hooks/${secret}`,
    server: {
      version,
      startedAt: now(),
      settings: showSettings(settings),
      files: settings.s3 ? 's3' : 'data_folder',
      measureDisk: () => runtime.measureSpace(settings.folder),
      isBackupFailing: () => backups.isFailing,
    },
    pictures,
    thumbnails: new Thumbnails({ engine, blobs: files.blobs, pictures }),
    avatarUrl: ({ user_id, avatar }) =>
      avatar === null ? null : `${origin()}/api/users.php?action=avatar&user_id=${user_id}&version=${avatar}`,
    ended: async (...userIds) => {
      authenticator.forget(userIds);
      await live.accessEnded(userIds);
      await delivery.worker.webhooksChanged();
      await push.services.accessEnded(userIds);
    },
    signInLimit: settings.signInLimit,
    deviceKey: deriveKey(key, 'devices'),
  };
  const storeTokenUses = async () => {
    const uses = authenticator.takeUses();
    if (uses.length > 0) await engine.writeRelaxed((tx) => recordTokenUses(tx, uses));
  };
  const backups = new ScheduledBackups({
    ...core,
    ...runtime,
    contentBytes: async () =>
      (await number(engine, `SELECT ${engine.dialect.databaseBytes} AS bytes`)) +
      (settings.s3 ? 0 : await sumFileBytes(engine)),
  });
  return { origin, authenticator, storeTokenUses, delivery, push, files, live, services, backups };
}
