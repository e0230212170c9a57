import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundledPackage } from './contents.ts';

export const noticesFile = 'THIRD-PARTY-NOTICES.txt';

const line = '-'.repeat(80);

/** Returns the licenses of the packages in a bundle, and of the runtime. Most licenses require that copies carry their text. */
export function noticesOf(packages: readonly BundledPackage[], bunVersion: string): string {
  const parts = packages.filter(({ isOwn }) => !isOwn).map((one) => [headingOf(one), textOf(one)]);
  return [['Parley contains this software of others.'], bunPart(bunVersion), ...parts]
    .map((part) => part.join('\n\n'))
    .join(`\n\n${line}\n`)
    .concat('\n');
}

const headingOf = ({ name, version, license }: BundledPackage): string => `${name} ${version} (${license})`;

function textOf({ folder, name }: BundledPackage): string {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (files.length === 0) throw new Error(`${name} has no file with its license.`);
  return files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
}

/** The packages of Bun have no file with its license. */
const bunPart = (version: string): readonly string[] => [
  `bun ${version} (MIT)`,
  `The runtime in the executables and in the image. It is linked with JavaScriptCore and parts of WebKit (LGPL 2), and with other
libraries under licenses of their own. The full list, the source code, and how to link it with a changed JavaScriptCore:
https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`,
];
