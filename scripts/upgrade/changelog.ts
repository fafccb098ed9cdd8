// What commits and CHANGELOG.md say of a release, read from their texts.

/** How `git log --name-only` must write commits. */
export const LOG_FORMAT = '--format=%x1e%s%x1f%b%x1f';
/** The heading of each kind. */
const HEADINGS = { breaking: 'Changed', feat: 'Added', fix: 'Fixed' } as const;

/** A commit that users may notice. */
interface Commit {
  readonly kind: keyof typeof HEADINGS;
  readonly subject: string;
}

/** Those of a log in which nothing changed the file, the newest first. */
export function withoutLine(log: string, file: string): readonly Commit[] {
  return log.split('\u001E').flatMap((entry): readonly Commit[] => {
    const [subject = '', body = '', files = ''] = entry.split('\u001F');
    const { type, mark } = /^(?<type>\w+)(?:\([^)]*\))?(?<mark>!)?:/u.exec(subject)?.groups ?? {};
    if (files.split('\n').includes(file)) return [];
    if (mark !== undefined || /^BREAKING[ -]CHANGE:/mu.test(body)) return [{ kind: 'breaking', subject }];
    return type === 'feat' || type === 'fix' ? [{ kind: type, subject }] : [];
  });
}

/** Their subjects under the headings where their lines would stand. */
export function draftOf(commits: readonly Commit[]): readonly string[] {
  return Object.entries(HEADINGS).flatMap(([kind, heading]) => {
    const lines = commits.filter((commit) => commit.kind === kind).map(({ subject }) => `- ${subject}`);
    return lines.length === 0 ? [] : [`### ${heading}`, ...lines];
  });
}

/** What stands under a version; undefined when it has no section, or an empty one. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const [, behind = ''] = changelog.split(`\n## [${version}]`);
  const section = behind.split('\n## ')[0]?.replace(/^.*\n/u, '').trim();
  return section === '' ? undefined : section;
}
