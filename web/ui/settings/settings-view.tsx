/** @jsxImportSource preact */
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { settingsText } from '../../text/settings/text.ts';
import { text } from '../../text/text.ts';
import { useSession } from '../context.ts';
import { Icon } from '../icon.tsx';
import { type SettingsSection, settingsSections } from '../route.ts';
import { AppearanceSettings } from './appearance-settings.tsx';
import { NotificationSettings } from './notification-settings.tsx';
import { ProfileSettings } from './profile-settings.tsx';
import { ServiceSettings } from './service-settings.tsx';

const sections: Readonly<Record<SettingsSection, ComponentType>> = {
  profile: ProfileSettings,
  appearance: AppearanceSettings,
  notifications: NotificationSettings,
  service: ServiceSettings,
};

/** The console, and pages of the server, which work without scripts. */
const accountPages = [
  ['/console/webhooks', settingsText.account.console],
  ['/password', settingsText.account.password],
  ['/sessions', settingsText.account.sessions],
] as const;

/** The frame of the settings: its navigation, and one section. */
export function SettingsView({ section }: { section: SettingsSection }) {
  const { store } = useSession();
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the list of sections scrolls.
    navigation.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [section]);
  const Section = sections[section];
  const isAdmin = store.me.is_admin;
  const pages = isAdmin ? [...accountPages, ['/admin/users', settingsText.account.administration]] : accountPages;
  return (
    <section class="pane settings" aria-label={settingsText.title}>
      <header>
        <a class="icon-button back" href="/" aria-label={text.common.allChats}>
          <Icon name="back" />
        </a>
        <h1>{settingsText.title}</h1>
      </header>
      <div class="columns">
        <nav ref={navigation} class="sections" aria-label={settingsText.navigation}>
          <ul>
            {settingsSections
              .filter((name) => name !== 'service' || isAdmin)
              .map((name) => (
                <li key={name}>
                  <a href={`/settings/${name}`} aria-current={name === section ? 'page' : undefined}>
                    {settingsText.sections[name]}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
        <div class="content">
          <Section />
        </div>
        <nav class="account-pages" aria-labelledby="account-pages">
          <h2 id="account-pages">{settingsText.account.title}</h2>
          <ul>
            {pages.map(([href, label]) => (
              <li key={href}>
                <a href={href}>{label}</a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
    </section>
  );
}
