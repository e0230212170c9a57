import { age, number } from './ages.ts';

/** The signature debugger. */
export const signatures = {
  title: 'Check a signature',
  about:
    'Paste what your endpoint received, and its secret. Everything is computed in this browser: the secret is sent nowhere.',
  delivery: 'Delivery',
  deliveryHint: 'Its number. It fills in what is empty, and what you pasted is compared with what was sent.',
  fill: 'Fill in',
  noDelivery: 'You have no delivery with this number.',
  secret: 'Secret',
  show: 'Show the secret',
  headers: 'Headers',
  headersHint: 'One on each line, as in “webhook-id: 7”.',
  body: 'Body',
  bodyHint: 'The raw body, before anything has parsed it.',
  result: 'Result',
  checks: 'Checks',
  expected: 'With this secret and body, the signatures are:',
  differs: ({ line, column }: { line: number; column: number }) =>
    `The first difference is in line ${number(line)}, at character ${number(column)}:`,
  sent: 'Sent',
  pasted: 'Pasted',
  theEnd: 'end of the body',
  /** The parts that are checked. */
  parts: {
    headers: 'Headers are there',
    scheme: 'Scheme is known',
    signature: 'webhook-signature matches',
    plain: 'X-Webhook-Signature matches',
    time: 'Timestamp is in time',
    body: 'Body is as it was sent',
  },
  passed: 'yes',
  notPassed: 'no',
  unchecked: 'not checked',
  verdicts: {
    empty: { title: 'Nothing to check yet', next: 'Paste the headers, the body and the secret.' },
    noSecret: { title: 'The secret is missing', next: 'Type or paste the secret that your endpoint uses.' },
    noSignature: {
      title: 'There is no signature header',
      next: 'Paste webhook-id, webhook-timestamp and webhook-signature too. If your endpoint does not get them, a proxy in front of it drops them.',
    },
    someMissing: {
      title: 'Some of the signature headers are missing',
      next: 'webhook-id, webhook-timestamp and webhook-signature belong together. If your endpoint gets only some of them, a proxy in front of it drops the others.',
    },
    scheme: {
      title: 'The signature has another scheme',
      next: 'webhook-signature has entries such as “v1,” and 44 characters of base64; X-Webhook-Signature is “sha256=” and 64 characters of hex. This one comes from other software, or was changed on the way.',
    },
    malformedTime: {
      title: 'webhook-timestamp is not a number of seconds',
      next: 'It counts the seconds since 1970. Something on the way has changed it.',
    },
    otherDelivery: {
      title: 'The headers belong to another event',
      next: 'Their webhook-id is not the event id of this delivery. Paste headers and body of the same request.',
    },
    wrongSecret: {
      title: 'The secret is wrong',
      next: 'Parley signed this delivery with another secret. Give your endpoint the current one, or rotate the secret.',
    },
    secretSpaces: {
      title: 'The secret has spaces or a line break around it',
      next: 'Without them the signature matches. Remove them where your endpoint reads the secret, for example with trim.',
    },
    secretPrefix: {
      title: 'The secret must not begin with whsec_',
      next: 'Without it the signature matches. Use the exact bytes of the secret as the key.',
    },
    newlineAdded: {
      title: 'A line break was added to the body',
      next: 'Without the line break at its end the signature matches. Check the bytes of the request, before anything changes them.',
    },
    byteOrderMark: {
      title: 'The body begins with a byte order mark',
      next: 'Without it the signature matches. Read the body as bytes.',
    },
    serialized: {
      title: 'The body was parsed and written again',
      next: 'Written without spaces the signature matches. Verify the raw body first, and parse it afterwards.',
    },
    bodyChanged: {
      title: 'The body was changed',
      next: 'The secret is right: what was sent matches the signature, and what you pasted does not. Verify the raw bytes of the request.',
    },
    stampChanged: {
      title: 'webhook-id or webhook-timestamp was changed',
      next: 'X-Webhook-Signature, which covers the body alone, matches. The other signature also covers these two headers: join them with the body as they arrived.',
    },
    mismatch: {
      title: 'The signature does not match',
      next: 'The secret or the body is not the one that was signed. Type the number of the delivery above, and you see which.',
    },
    oldSecret: {
      title: 'This is the old secret',
      next: 'X-Webhook-Signature uses the new one since the rotation. Give your endpoint the new secret, or verify webhook-signature.',
    },
    plainDiffers: {
      title: 'X-Webhook-Signature does not match, though webhook-signature does',
      next: 'Something on the way has changed this header. The other one covers more, and is enough.',
    },
    plainOnly: {
      title: 'X-Webhook-Signature matches, but has no timestamp',
      next: 'It covers the body alone, so anybody who has recorded the request can send it again. Verify webhook-signature.',
    },
    tooOld: {
      title: 'The signature matches, but the timestamp is too old',
      next: 'Endpoints accept five minutes. If you check an older request here, this is expected. Otherwise set the clock of the endpoint, or look for what delays requests.',
    },
    tooNew: {
      title: 'The signature matches, but the timestamp is in the future',
      next: 'Set the clock of the endpoint, or of this machine, right.',
    },
    ready: {
      title: 'With this secret, these would be the signatures',
      next: 'Compare them with what your endpoint received, or paste its headers: if they differ, the secret is another one.',
    },
    valid: {
      title: 'The signature is valid',
      next: 'If your endpoint refuses it, check its clock, and compare its code with the guide to webhooks.',
    },
  },
  signedAt: ({ at, seconds }: { at: string; seconds: number }) =>
    seconds < 0 ? `It was signed at ${at}, in ${age(-seconds)}.` : `It was signed at ${at}, ${age(seconds)} ago.`,
};
