import { requireKnown } from '../cli/known.ts';

/** A kind of machine that there is an executable for. */
export interface Target {
  /** The file is `parley-<name>`. */
  readonly name: string;
  /** The npm package of its runtime. The lockfile has its checksum. */
  readonly runtimePackage: string;
  readonly compileTarget: string;
  readonly suffix?: '.exe';
  /** Without it the program starts slower, and is 8 MB smaller. */
  readonly hasBytecode: boolean;
}

export const targets: readonly Target[] = [
  { name: 'linux-x64', runtimePackage: '@oven/bun-linux-x64', compileTarget: 'bun-linux-x64', hasBytecode: true },
  {
    name: 'linux-arm64',
    runtimePackage: '@oven/bun-linux-aarch64',
    compileTarget: 'bun-linux-arm64',
    hasBytecode: true,
  },
  {
    name: 'darwin-arm64',
    runtimePackage: '@oven/bun-darwin-aarch64',
    compileTarget: 'bun-darwin-arm64',
    hasBytecode: true,
  },
  { name: 'darwin-x64', runtimePackage: '@oven/bun-darwin-x64', compileTarget: 'bun-darwin-x64', hasBytecode: true },
  {
    name: 'windows-x64',
    runtimePackage: '@oven/bun-windows-x64',
    compileTarget: 'bun-windows-x64',
    suffix: '.exe',
    hasBytecode: false,
  },
];

/** Returns the targets with these names, or all of them without a name. Throws a usage error for a name that there is not. */
export function chooseTargets(names: readonly string[]): readonly Target[] {
  const known = targets.map(({ name }) => name);
  const wanted = names.map((name) => requireKnown('target', name, known));
  return wanted.length === 0 ? targets : targets.filter(({ name }) => wanted.includes(name));
}
