import { run } from './run.ts';

interface Component {
  name: string;
  readonly 'bom-ref': string;
}

/** Returns what is in the packages and executables, as CycloneDX JSON. npm reads it from the lockfile. */
export function billOfMaterials(): string {
  const command = ['npm', 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev'];
  const bill = JSON.parse(run([...command, '--package-lock-only'])) as {
    readonly metadata: { readonly component: Component };
    readonly components: readonly Component[];
  };
  // npm names the root and the workspaces after their folders.
  for (const component of [bill.metadata.component, ...bill.components]) {
    component.name = component['bom-ref'].replace(/(?<=.)@[^@]*$/, '');
  }
  bill.metadata.component.name = 'parley';
  return `${JSON.stringify(bill, null, 2)}\n`;
}
