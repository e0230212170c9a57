import { framingSubjects } from './around/framing.ts';
import { oauthSubjects } from './around/oauth.ts';
import { Pages } from './around/pages.ts';
import { Uploads } from './around/uploads.ts';
import { Calls } from './calls/calls.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subject.ts';

/** Everything that is served over HTTP, on the stage that is open when it is tried. */
export interface Http {
  readonly subjects: readonly Subject[];
  readonly calls: Calls;
}

export function http(stage: () => Stage): Http {
  const calls = new Calls(stage);
  const around = [...oauthSubjects(stage), ...new Pages(stage).subjects, ...new Uploads(stage).subjects];
  return { calls, subjects: [...calls.subjects, ...around, ...framingSubjects(stage)] };
}
