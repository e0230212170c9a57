import { framingSubjects } from './around/framing.ts';
import { oauthSubjects } from './around/oauth.ts';
import { pageSubjects } from './around/pages.ts';
import { uploadSubjects } from './around/uploads.ts';
import { type Calls, callSubjects } from './calls/calls.ts';
import type { Subject } from './subject.ts';
import type { Target } from './target.ts';

/** Everything that is served over HTTP, on the target that is open when it is tried. */
export function http(target: () => Target): { readonly subjects: readonly Subject[]; readonly calls: Calls } {
  const calls = callSubjects(target);
  const around = [oauthSubjects, pageSubjects, uploadSubjects, framingSubjects].flatMap((make) => make(target));
  return { calls, subjects: [...calls.subjects, ...around] };
}
