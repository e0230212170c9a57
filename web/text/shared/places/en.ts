/**
 * Names of pages, of views and of groups of them. They are the same in the navigation of the client and of the account pages. The
 * first view of the client does not need them.
 */
export const en = {
  account: 'Account',
  administration: 'Administration',
  appearance: 'Appearance',
  audit: 'Audit log',
  console: 'Console',
  docs: 'API reference',
  notifications: 'Notifications',
  overview: 'Overview',
  password: 'Password',
  people: 'People',
  profile: 'Profile',
  service: 'Service',
  sessions: 'Sessions',
  tokens: 'Access tokens',
};
