import { program } from '@parley/server/lib/program.ts';
import { defineCommand } from '../command.ts';
import { CredentialsFile } from '../login/credentials.ts';
import { leaveOtherUrl, signOut } from '../login/sign-out.ts';
import { hint, oneLine, print, printJson } from '../output.ts';
import { keepProfile, loadProfiles, profileName, profileUrl, saveProfiles } from '../profiles.ts';
import { normalUrl } from '../server-url.ts';
import { printTable } from '../table.ts';
import { json, text } from '../values.ts';

const name = { summary: 'The name of the profile.', read: profileName } as const;

export const add = defineCommand({
  arguments: { name, URL: { summary: 'The URL of the server.', read: text } },
  options: {},
  notes:
    'The first profile is used from then on. A profile that gets another URL is signed out at the old one. To use another one once: --profile, or PARLEY_PROFILE.',
  async run({ name, URL: typed }, _, context) {
    const url = normalUrl(typed);
    await leaveOtherUrl({ profile: name, url }, context);
    const current = keepProfile(name, url, context.env);
    await print(context, `Profile ${name}: ${url}${current === name ? ', in use' : ''}.`);
    await hint(context, `Sign in there: ${program} login --profile ${name}`);
  },
});

export const list = defineCommand({
  arguments: {},
  options: { json },
  async run(_, options, context) {
    const { current, urls } = loadProfiles(context.env);
    const profiles = Object.entries(urls).map(([name, url]) => ({
      name,
      url,
      is_current: name === current,
      user: new CredentialsFile({ url, profile: name }, context.env).loadIfValid()?.name ?? null,
    }));
    if (options.json) return printJson(context, { profiles });
    if (profiles.length === 0) return hint(context, `No profiles. Add one: ${program} profile add <name> <URL>`);
    await printTable(context, [
      ['', 'name', 'server', 'signed in'],
      ...profiles.map((one) => [one.is_current ? '*' : '', one.name, oneLine(one.url), oneLine(one.user ?? 'no')]),
    ]);
  },
});

export const use = defineCommand({
  arguments: { name },
  options: {},
  async run({ name }, _, context) {
    const url = profileUrl(name, context.env);
    saveProfiles({ ...loadProfiles(context.env), current: name }, context.env);
    await print(context, `Profile ${name} is in use: ${url}.`);
  },
});

export const remove = defineCommand({
  arguments: { name },
  options: {},
  notes: 'It signs out there first.',
  async run({ name }, _, context) {
    const url = profileUrl(name, context.env);
    await signOut(new CredentialsFile({ url, profile: name }, context.env), context);
    const { current, urls } = loadProfiles(context.env);
    const { [name]: __, ...others } = urls;
    saveProfiles({ current: current === name ? undefined : current, urls: others }, context.env);
    await print(context, `Removed the profile ${name}.`);
  },
});
