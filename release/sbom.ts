import type { BundledPackage } from './contents.ts';
import { run } from './run.ts';
import { targets } from './targets.ts';

interface Component {
  name: string;
  readonly 'bom-ref': string;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

const runtimes: ReadonlySet<string> = new Set(['bun', ...targets.map(({ runtimePackage }) => runtimePackage)]);

/**
 * Returns what is in the package of the command line and in the executables, as CycloneDX JSON: the packages of the bundle and
 * the runtimes. npm reads their descriptions from the lockfile. With --omit=dev it would also leave out packages that both the
 * bundle and the development need.
 */
export function billOfMaterials(packages: readonly BundledPackage[]): string {
  const command = ['npm', 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const bill = JSON.parse(run(command)) as Bill;
  // npm names the root and the workspaces after their folders.
  for (const component of [bill.metadata.component, ...bill.components]) component.name = nameOf(component['bom-ref']);
  bill.metadata.component.name = 'parley';

  const bundled = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const isIncluded = (ref: string) => bundled.has(ref) || runtimes.has(nameOf(ref));
  const components = bill.components.filter((component) => isIncluded(component['bom-ref']));
  const described = new Set(components.map((component) => component['bom-ref']));
  const missing = [...bundled].filter((ref) => !described.has(ref));
  if (missing.length > 0) throw new Error(`package-lock.json does not describe ${missing.join(', ')}. Run: npm ci`);

  const root = bill.metadata.component['bom-ref'];
  const dependencies = bill.dependencies
    .filter(({ ref }) => ref === root || isIncluded(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isIncluded) }));
  return `${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`;
}

/** A reference is `name@version`. */
const nameOf = (ref: string): string => ref.replace(/(?<=.)@[^@]*$/, '');
