import { firstText, type Json, text } from './json.ts';
import { bullets, code, linkTo, paragraph, plain, quote, words } from './markdown.ts';

const maxCommits = 10;
const maxComment = 400;

/** Where a service has the title and the author of a commit: the first path with a text. */
interface CommitPaths {
  readonly title: readonly string[];
  readonly author: readonly string[];
}

/** Returns the commits of a push as a list. */
export const commitList = (commits: readonly Json[], paths: CommitPaths): string =>
  bullets(commits, maxCommits, (one) => {
    const [title = ''] = firstText(one, ...paths.title).split('\n', 1);
    const author = firstText(one, ...paths.author);
    return words(
      linkTo(code(shortSha(text(one, 'id'))), text(one, 'url')),
      plain(title),
      author && `(${plain(author)})`,
    );
  });

export const commitCount = (count: number): string => `${count} commit${count === 1 ? '' : 's'}`;

export const shortSha = (sha: string): string => sha.slice(0, 7);

/** Returns the beginning of a comment or description as a quote. */
export const excerpt = (body: string): string => quote(paragraph(body, maxComment));
