import { type Signal, signal } from '@preact/signals';

/** The values of each choice. The first is the default. */
export const looks = { theme: ['system', 'light', 'dark'], density: ['comfortable', 'compact'] } as const;
type Looks = typeof looks;
export type Look = keyof Looks;
export type LookValue<L extends Look> = Looks[L][number];

const year = 31_536_000;

/** Tells the other tabs of this browser. */
const channel = new BroadcastChannel('parley-appearance');

/** The page has the choices in attributes, because the server or the script of the head has read the cookies. */
function chosen<L extends Look>(look: L): Signal<LookValue<L>> {
  const values: readonly LookValue<L>[] = looks[look];
  const now = document.documentElement.dataset[look];
  return signal(values.find((value) => value === now) ?? (looks[look][0] as LookValue<L>));
}

/** How the client looks in this browser. */
export const appearance: { readonly [L in Look]: Signal<LookValue<L>> } = {
  theme: chosen('theme'),
  density: chosen('density'),
};

function show<L extends Look>(look: L, value: LookValue<L>): void {
  appearance[look].value = value;
  const { dataset } = document.documentElement;
  if (value === looks[look][0]) delete dataset[look];
  else dataset[look] = value;
  if (look === 'theme') colourBar(value as LookValue<'theme'>);
}

/** Shows a choice, and keeps it in a cookie: the server writes it into every page, so that nothing changes after the first paint. */
export function choose<L extends Look>(look: L, value: LookValue<L>): void {
  show(look, value);
  const age = value === looks[look][0] ? 0 : year;
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: `cookieStore` exists only over https.
  document.cookie = `parley_${look}=${value}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  channel.postMessage({ look, value });
}

/** The bar of the browser has the colour of the theme. Each element of it is for one scheme. */
function colourBar(theme: LookValue<'theme'>): void {
  for (const bar of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const { scheme } = bar.dataset;
    bar.media = theme === 'system' ? `(prefers-color-scheme: ${scheme})` : theme === scheme ? 'all' : 'not all';
  }
}

channel.addEventListener('message', ({ data: { look, value } }: MessageEvent<{ look: Look; value: never }>) =>
  show(look, value),
);

// The page that the service worker keeps is the same for every theme.
colourBar(appearance.theme.value);
