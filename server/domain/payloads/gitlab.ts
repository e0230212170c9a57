import { commitCount, commitList, excerpt, shortSha } from './commits.ts';
import { firstText, type Json, objects, pick, text } from './json.ts';
import { code, lines, link, linkTo, plain, words } from './markdown.ts';

export const isGitlab = (payload: Json): boolean =>
  typeof payload.object_kind === 'string' && ('project' in payload || 'project_id' in payload);

/** Returns an event of a GitLab webhook as Markdown, or undefined for one that says nothing to people. */
export function gitlabMessage(payload: Json): string | undefined {
  const kind = text(payload, 'object_kind');
  const render = pick(events, kind);
  const said = render ? render(payload) : words(actor(payload), 'caused', code(kind));
  if (said === undefined) return undefined;
  const place = firstText(payload, 'project.path_with_namespace', 'project.name', 'project_name');
  return lines(place && linkTo(`**${plain(place)}**`, text(payload, 'project.web_url')), said);
}

type Render = (payload: Json) => string | undefined;

const events: Readonly<Record<string, Render>> = {
  push,
  tag_push: (p) => {
    const tag = code(text(p, 'ref').replace(/^refs\/tags\//, ''));
    return words(actor(p), isZero(text(p, 'after')) ? 'deleted the tag' : 'pushed the tag', tag);
  },
  issue: (p) => changed(p, 'issue', '#'),
  work_item: (p) => changed(p, text(p, 'object_attributes.type').toLowerCase() || 'work item', '#'),
  merge_request: (p) => {
    const branches = words(
      code(text(p, 'object_attributes.source_branch')),
      '→',
      code(text(p, 'object_attributes.target_branch')),
    );
    const head = changed(p, 'merge request', '!');
    if (head === undefined) return undefined;
    const [first = '', ...rest] = head.split('\n');
    return lines(`${first} (${branches})`, ...rest);
  },
  note: (p) => {
    const on = ['merge_request', 'issue', 'commit', 'snippet'].find((name) => name in p) ?? '';
    const what = firstText(p, `${on}.title`, `${on}.message`) || on.replace('_', ' ');
    const place = link(what.split('\n')[0] ?? '', text(p, 'object_attributes.url'));
    return lines(words(actor(p), 'commented on', place), excerpt(text(p, 'object_attributes.note')));
  },
  pipeline: (p) => {
    const status = text(p, 'object_attributes.status');
    if (!isFinal(status)) return undefined;
    const id = text(p, 'object_attributes.id');
    const url = firstText(p, 'object_attributes.url') || `${text(p, 'project.web_url')}/-/pipelines/${id}`;
    return result(p, status, link(`Pipeline #${id}`, url), 'object_attributes.ref', 'object_attributes.sha');
  },
  build: (p) => {
    const status = text(p, 'build_status');
    if (!isFinal(status)) return undefined;
    const url = `${text(p, 'project.web_url') || text(p, 'repository.homepage')}/-/jobs/${text(p, 'build_id')}`;
    return result(p, status, link(`Job ${text(p, 'build_name')}`, url), 'ref', 'sha');
  },
  deployment: (p) =>
    words(
      signOf(text(p, 'status')),
      'Deployment to',
      link(text(p, 'environment'), text(p, 'deployable_url')),
      `— ${plain(text(p, 'status'))}`,
    ),
  release: (p) =>
    lines(
      words('Release', link(firstText(p, 'name', 'tag'), text(p, 'url')), plain(`${text(p, 'action') || 'create'}d`)),
      excerpt(text(p, 'description')),
    ),
  wiki_page: (p) =>
    words(
      actor(p),
      `${plain(text(p, 'object_attributes.action') || 'update')}d the page`,
      link(text(p, 'object_attributes.title'), text(p, 'object_attributes.url')),
    ),
};

function push(p: Json): string | undefined {
  const branch = code(text(p, 'ref').replace(/^refs\/heads\//, ''));
  if (isZero(text(p, 'after'))) return words(actor(p), 'deleted the branch', branch);
  const commits = objects(p, 'commits');
  const total = Math.max(commits.length, Number(text(p, 'total_commits_count')) || 0);
  if (total === 0) return words(actor(p), 'created the branch', branch);
  const compare = `${text(p, 'project.web_url')}/-/compare/${text(p, 'before')}...${text(p, 'after')}`;
  const count = commitCount(total);
  return lines(
    words(actor(p), 'pushed', isZero(text(p, 'before')) ? plain(count) : link(count, compare), 'to', branch),
    commitList(commits, { title: ['title', 'message'], author: ['author.name'] }),
  );
}

const verbs: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  approved: 'approved',
  unapproved: 'withdrew the approval of',
  approval: 'approved',
};

/** An update of labels, descriptions and the like says nothing to people. */
function changed(p: Json, what: string, sign: string): string | undefined {
  const action = text(p, 'object_attributes.action');
  const verb = pick(verbs, action);
  if (verb === undefined) return undefined;
  const label = `${sign}${text(p, 'object_attributes.iid')} ${text(p, 'object_attributes.title')}`;
  const body = action === 'open' ? excerpt(text(p, 'object_attributes.description')) : '';
  return lines(
    words(actor(p), verb, plain(what), linkTo(plain(label).replace(/^\\#/, '#'), text(p, 'object_attributes.url'))),
    body,
  );
}

function result(p: Json, status: string, name: string, ref: string, sha: string): string {
  const branch = text(p, ref);
  const by = text(p, 'user.name');
  const seconds = firstText(p, 'object_attributes.duration', 'build_duration');
  return words(
    signOf(status),
    `${name}: ${plain(status)}`,
    branch && `on ${code(branch)}`,
    text(p, sha) && `(${code(shortSha(text(p, sha)))})`,
    by && `by ${plain(by)}`,
    seconds && `in ${Math.round(Number(seconds)) || 0} s`,
  );
}

const isFinal = (status: string): boolean => ['success', 'failed', 'canceled', 'skipped'].includes(status);
const isZero = (sha: string): boolean => /^0+$/.test(sha);
const signOf = (status: string): string => (status === 'success' ? '🟢' : status === 'failed' ? '🔴' : '⚪');

const actor = (p: Json): string =>
  plain(firstText(p, 'user.name', 'user_name', 'user.username', 'user_username') || 'Somebody');
