/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { appearance, choose, type Look, type LookValue, looks } from '../../appearance.ts';
import { settingsText } from '../../text/settings/text.ts';
import { Block } from './parts.tsx';

const words = settingsText.appearance;

/** How the client looks in this browser. */
export function AppearanceSettings() {
  return (
    <>
      <LookChoice look="theme" picture={(theme) => <ThemePicture theme={theme} />} />
      <LookChoice look="density" picture={(density) => <DensityPicture density={density} />} />
    </>
  );
}

interface LookChoiceProps<L extends Look> {
  readonly look: L;
  readonly picture: (value: LookValue<L>) => ComponentChildren;
}

function LookChoice<L extends Look>({ look, picture }: LookChoiceProps<L>) {
  const { title, about } = words[look];
  const labels = words[look].values as Readonly<Record<LookValue<L>, string>>;
  const values: readonly LookValue<L>[] = looks[look];
  return (
    <Block title={title} about={about}>
      <fieldset class="looks">
        <legend class="unseen">{title}</legend>
        {values.map((value) => (
          <label key={value}>
            <input
              type="radio"
              name={look}
              checked={appearance[look].value === value}
              onChange={() => choose(look, value)}
            />
            {picture(value)}
            <span class="name">{labels[value]}</span>
          </label>
        ))}
      </fieldset>
    </Block>
  );
}

const schemes = { system: ['light', 'dark'], light: ['light'], dark: ['dark'] } as const;

/** A small window in the colours of a theme. That of the system is half of each. */
const ThemePicture = ({ theme }: { theme: LookValue<'theme'> }) => (
  <span class="windows" aria-hidden="true">
    {schemes[theme].map((scheme) => (
      <span key={scheme} class="window" data-theme={scheme}>
        <i />
        <i />
        <i class="own" />
      </span>
    ))}
  </span>
);

const DensityPicture = ({ density }: { density: LookValue<'density'> }) => (
  <span class="windows" aria-hidden="true">
    <span class={`window ${density}`}>
      {Array.from({ length: density === 'compact' ? 5 : 3 }, (_, at) => (
        <i key={at} />
      ))}
    </span>
  </span>
);
