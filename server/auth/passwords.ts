import { ParleyError } from '@parley/contract';

/** As OWASP advises for argon2id; the default of the runtime would take 64 MiB for every sign-in. */
const cost = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/** Hashes at once: each takes a core for a while, and memory. The others wait in line. */
const atOnce = 2;
/** A line of so many takes a few seconds. Whoever comes then is sent away at once, rather than kept waiting by a flood. */
const mostWaiting = 100;
let running = 0;
const waiting: (() => void)[] = [];

async function inLine<T>(work: () => Promise<T>): Promise<T> {
  if (waiting.length >= mostWaiting) {
    throw new ParleyError('unavailable', 'Too many people are signing in at the moment. Try again in a few seconds.');
  }
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

export const hashPassword = (password: string): Promise<string> => inLine(() => Bun.password.hash(password, cost));

/** What nobody's password is: a name that does not exist is checked against it, and so takes as long as one that does. */
export const decoy =
  '$argon2id$v=19$m=19456,t=2,p=1$lDyEXUPTQ5Eb2HMDbCGc/ADqsghxPfv1BRZc8iPOAi4$E6nVpy2PYeyOxVGJ8XSQvbDuIGXeW6d9AZgMMHUE3SM';

/** Whether it is the password. Where there is none (null) the answer is no, and takes as long. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const matches = await inLine(() => Bun.password.verify(password, hash ?? decoy));
  return matches && hash !== null;
}
