import { commitCount, commitList, excerpt, shortSha } from './commits.ts';
import { firstText, type Json, objects, pick, text } from './json.ts';
import { code, lines, link, linkTo, plain, words } from './markdown.ts';

/** Returns an event of a GitHub webhook as Markdown, or undefined for one that says nothing to people. */
export function githubMessage(event: string, payload: Json): string | undefined {
  const render = pick(events, event);
  const said = render ? render(payload) : unknownEvent(event, payload);
  if (said === undefined) return undefined;
  const place = firstText(payload, 'repository.full_name', 'organization.login');
  const url = firstText(payload, 'repository.html_url', 'organization.url');
  return lines(place && linkTo(`**${plain(place)}**`, url), said);
}

type Render = (payload: Json) => string | undefined;

const events: Readonly<Record<string, Render>> = {
  ping: (payload) => words('This webhook is set up.', text(payload, 'zen') && `*${plain(text(payload, 'zen'))}*`),
  push,
  create: (p) => sentence(p, `created the ${kindOfRef(p)} ${code(text(p, 'ref'))}`),
  delete: (p) => sentence(p, `deleted the ${kindOfRef(p)} ${code(text(p, 'ref'))}`),
  pull_request: (p) => {
    const isMerged = text(p, 'action') === 'closed' && text(p, 'pull_request.merged') === 'true';
    const shown = new Set(['opened', 'closed', 'reopened', 'ready_for_review', 'converted_to_draft']);
    const action = text(p, 'action');
    if (!shown.has(action)) return undefined;
    const branches = words(code(text(p, 'pull_request.head.ref')), '→', code(text(p, 'pull_request.base.ref')));
    const head = sentence(p, words(isMerged ? 'merged' : said(action), 'pull request', item(p, 'pull_request')));
    return lines(words(head, `(${branches})`), action === 'opened' && excerpt(text(p, 'pull_request.body')));
  },
  pull_request_review: (p) => {
    if (text(p, 'action') !== 'submitted') return undefined;
    const state = text(p, 'review.state').toLowerCase();
    const did = pick(reviews, state) ?? 'reviewed';
    return lines(sentence(p, words(did, item(p, 'pull_request'))), excerpt(text(p, 'review.body')));
  },
  pull_request_review_comment: (p) => commented(p, 'pull_request'),
  issues: (p) => {
    const shown = new Set(['opened', 'closed', 'reopened', 'deleted', 'transferred', 'assigned']);
    const action = text(p, 'action');
    if (!shown.has(action)) return undefined;
    const to = action === 'assigned' ? `to ${plain(text(p, 'assignee.login'))}` : '';
    const head = sentence(p, words(said(action), 'issue', item(p, 'issue'), to));
    return lines(head, action === 'opened' && excerpt(text(p, 'issue.body')));
  },
  issue_comment: (p) => commented(p, 'issue'),
  commit_comment: (p) =>
    text(p, 'action') === 'created'
      ? lines(
          sentence(
            p,
            `commented on ${linkTo(code(shortSha(text(p, 'comment.commit_id'))), text(p, 'comment.html_url'))}`,
          ),
          excerpt(text(p, 'comment.body')),
        )
      : undefined,
  release: (p) => {
    if (text(p, 'action') !== 'published') return undefined;
    const name = firstText(p, 'release.name', 'release.tag_name');
    const head = sentence(p, `published ${link(name, text(p, 'release.html_url'))}`);
    return lines(head, excerpt(text(p, 'release.body')));
  },
  workflow_run: (p) => (text(p, 'action') === 'completed' ? run(p, 'workflow_run') : undefined),
  check_run: (p) => (text(p, 'action') === 'completed' ? run(p, 'check_run') : undefined),
  // Each is told by its runs.
  check_suite: () => undefined,
  workflow_job: () => undefined,
  status: (p) => {
    const state = text(p, 'state');
    if (state === 'pending') return undefined;
    const label = firstText(p, 'description', 'context', 'state');
    return words(signOf(state), link(label, text(p, 'target_url')), `(${code(shortSha(text(p, 'sha')))})`);
  },
  deployment_status: (p) => {
    const state = text(p, 'deployment_status.state');
    const url = firstText(p, 'deployment_status.target_url', 'deployment_status.log_url');
    const where = text(p, 'deployment_status.environment') || text(p, 'deployment.environment');
    return words(signOf(state), 'Deployment to', link(where, url), `: ${plain(state)}`).replace(' : ', ': ');
  },
  fork: (p) => sentence(p, `forked it to ${link(text(p, 'forkee.full_name'), text(p, 'forkee.html_url'))}`),
  star: (p) => (text(p, 'action') === 'created' ? sentence(p, 'starred it') : undefined),
  // The older name of the same event.
  watch: () => undefined,
};

const reviews: Readonly<Record<string, string>> = {
  approved: 'approved',
  changes_requested: 'requested changes to',
  commented: 'reviewed',
  dismissed: 'dismissed a review of',
};

function push(p: Json): string | undefined {
  const ref = text(p, 'ref');
  const isTag = ref.startsWith('refs/tags/');
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  // `create` and `delete` tell of these.
  if (isTag || text(p, 'deleted') === 'true') return undefined;
  const commits = objects(p, 'commits');
  if (commits.length === 0) return undefined;
  const did = text(p, 'forced') === 'true' ? 'force-pushed' : 'pushed';
  return lines(
    sentence(p, words(did, link(commitCount(commits.length), text(p, 'compare')), 'to', code(name))),
    commitList(commits, { title: ['message'], author: ['author.username', 'author.name'] }),
  );
}

function run(p: Json, of: 'workflow_run' | 'check_run'): string {
  const conclusion = text(p, `${of}.conclusion`);
  const branch = firstText(p, `${of}.head_branch`, `${of}.check_suite.head_branch`);
  const name = link(firstText(p, `${of}.name`, `${of}.display_title`), text(p, `${of}.html_url`));
  return words(
    signOf(conclusion),
    `${name}: ${plain(said(conclusion))}`,
    branch && `on ${code(branch)}`,
    `(${code(shortSha(text(p, `${of}.head_sha`)))})`,
  );
}

const signOf = (state: string): string => {
  if (state === 'success') return '🟢';
  return ['failure', 'error', 'timed_out', 'startup_failure'].includes(state) ? '🔴' : '⚪';
};

function commented(p: Json, on: 'issue' | 'pull_request'): string | undefined {
  if (text(p, 'action') !== 'created') return undefined;
  const place = linkTo(label(p, on), firstText(p, 'comment.html_url', `${on}.html_url`));
  return lines(sentence(p, `commented on ${place}`), excerpt(text(p, 'comment.body')));
}

/** Any other event, in the words of its names. */
function unknownEvent(event: string, p: Json): string {
  const action = text(p, 'action');
  return sentence(p, words('caused', code(event), action && `(${plain(said(action))})`));
}

const sentence = (p: Json, did: string): string => words(actor(p), did);

const actor = (p: Json): string => {
  const login = firstText(p, 'sender.login', 'pusher.name');
  return login === '' ? 'Somebody' : link(login, text(p, 'sender.html_url'));
};

const label = (p: Json, of: string): string =>
  words(`#${plain(text(p, `${of}.number`))}`, plain(text(p, `${of}.title`)));
const item = (p: Json, of: string): string => linkTo(label(p, of), text(p, `${of}.html_url`));
const said = (name: string): string => name.replaceAll('_', ' ');
const kindOfRef = (p: Json): string => plain(text(p, 'ref_type') || 'branch');
