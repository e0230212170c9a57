import { framingSubjects } from './around/framing.ts';
import { oauthSubjects } from './around/oauth.ts';
import { Pages } from './around/pages.ts';
import { Uploads } from './around/uploads.ts';
import { Calls } from './calls/calls.ts';
import type { Subject } from './subject.ts';
import type { Target } from './target.ts';

/** Everything that is served over HTTP, on the target that is open when it is tried. */
export interface Http {
  readonly subjects: readonly Subject[];
  readonly calls: Calls;
}

export function http(target: () => Target): Http {
  const calls = new Calls(target);
  const around = [...oauthSubjects(target), ...new Pages(target).subjects, ...new Uploads(target).subjects];
  return { calls, subjects: [...calls.subjects, ...around, ...framingSubjects(target)] };
}
