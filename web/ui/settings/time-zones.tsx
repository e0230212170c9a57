/** @jsxImportSource preact */
import { settingsText } from '../../text/settings/text.ts';

/** Returns the time zone of the browser. */
export const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All time zones, that of the browser first. Browsers do not list every name of one, so the saved `zone` is added. */
export function ZoneOptions({ zone }: { zone: string | null | undefined }) {
  const here = zoneHere();
  const zones = new Set([...(zone ? [zone] : []), ...Intl.supportedValuesOf('timeZone')]);
  zones.delete(here);
  return (
    <>
      <option value={here}>{settingsText.zoneHere(here)}</option>
      {[...zones].sort().map((one) => (
        <option key={one}>{one}</option>
      ))}
    </>
  );
}
