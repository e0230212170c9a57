/** Returns the part of a changelog about a version, or what is not released yet if it has no part of its own. */
export function releaseNotes(changelog: string, version: string): string {
  const parts = changelog.split(/^## /m).slice(1);
  const isAbout = (name: string) => (part: string) => part.split(/\s/)[0]?.replace(/[[\]]/g, '') === name;
  const part = parts.find(isAbout(version)) ?? parts.find(isAbout('Unreleased'));
  if (part === undefined) throw new Error(`CHANGELOG.md says nothing about ${version}.`);
  // Links to files of the repository would lead nowhere.
  const body = part
    .slice(part.indexOf('\n'))
    .trim()
    .replaceAll(/\[([^\]]+)\]\((?!https?:)([^)#]+)[^)]*\)/g, '$1 ($2)');
  return `# Parley ${version}\n\n${body}\n`;
}
