import { program } from '@parley/server/lib/program.ts';
import type { Environment } from './context.ts';
import { suggestion } from './known.ts';
import { SavedFile } from './saved-file.ts';

/** The named servers of a person. */
export interface Profiles {
  /** The one that is used unless another is named. */
  readonly current?: string | undefined;
  /** Server URLs by name. */
  readonly urls: Readonly<Record<string, string>>;
}

const fileOf = (env: Environment) => new SavedFile('config', 'profiles', '', env);

export function loadProfiles(env: Environment): Profiles {
  const { current, urls } = fileOf(env).read() ?? {};
  const named = Object.entries(typeof urls === 'object' && urls !== null ? urls : {});
  return {
    current: typeof current === 'string' ? current : undefined,
    urls: Object.fromEntries(named.filter(([, url]) => typeof url === 'string')),
  };
}

/** A name as `Read` takes it: it appears in commands that people copy. */
export function profileName(typed: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(typed)) return typed;
  throw new Error('letters, digits, dots and dashes');
}

/** Adds or changes a profile. The first one is used from then on. Returns the name of the one in use. */
export function keepProfile(name: string, url: string, env: Environment): string {
  const { current = name, urls } = loadProfiles(env);
  saveProfiles({ current, urls: { ...urls, [name]: url } }, env);
  return current;
}

export const saveProfiles = (profiles: Profiles, env: Environment): void => fileOf(env).write(profiles);

/** Returns the URL of a profile. Throws an error that suggests a name if there is none. */
export function profileUrl(name: string, env: Environment): string {
  const { urls } = loadProfiles(env);
  const url = Object.hasOwn(urls, name) ? urls[name] : undefined;
  if (url !== undefined) return url;
  throw new Error(
    `There is no profile ${JSON.stringify(name)}.${suggestion(name, Object.keys(urls))} See: ${program} profile list`,
  );
}
