// Every rule that binds a server, with its checks or the reason why nobody outside can test it. Knows no server.
import { ALL_CHECKS, type ListedCheck } from './registry.ts';

/** Why a rule cannot be tested from outside: a sentence. Rules with a check are not listed here. */
export const UNSEEN: Readonly<Record<string, string>> = {
  'G-22': 'The platform plays prompts in the order of the list; what order a server meant cannot be known.',
  'G-26': 'The welcome of one sample server; others may say less or more.',
  'G-27': 'Whether the welcome can be cut is a setting of the server.',
  'G-3A': 'The times of one gateway; how long a server listens is its own affair.',
  'G-56': 'A freedom: prompts of one reply may differ.',
  'G-68': 'It is about what a server writes into its log.',
  'G-83': 'It is about logs, recordings and transcripts, and which input is sensitive is for the bot to say.',
  'G-91': 'It takes a reply larger than every buffer on the way, and nobody outside can order one.',
  'G-93': 'It takes ten minutes to an hour.',
  'J-01': 'A duty of whoever registers the server.',
  'J-02': 'A duty of whoever registers the server.',
  'J-03': 'The platform does it.',
  'J-05': 'Only the server itself renews its token; `npm run check -- renewal` shows it for ours.',
  'J-13': 'Only an issuer that answers badly would see it, and a server trusts no issuer of ours.',
  'J-2B': 'It takes an issuer that fails; the tests of the token check show it for our server.',
  'J-2D': 'Only the server itself renews its token; `npm run check -- renewal` shows it for ours.',
  'W-02': 'A freedom of whoever registers the server: behind a target a path may stand, and everything is served below it.',
  'W-03': 'A duty of whoever registers the server.',
  'W-04': 'A duty of whoever registers the server.',
  'W-08': 'The platform does it.',
  'W-09': 'A certificate of the client is neither shown nor asked for here, so a server that demands one cannot be reached at all.',
  'W-2A': 'A server need not send anything to a call whose socket is gone, and what it forgets cannot be seen.',
  'W-32': 'How soon a server has its sound is its own affair; nobody outside knows when it was produced.',
  'W-33': 'Older prose that W-30 and W-31 replace.',
  'W-50': 'The platform does it.',
};

/** A rule and how it is tested from outside. */
export interface RuleEntry {
  readonly rule: string;
  /** Checks; empty when it cannot be tested. */
  readonly checks: readonly Pick<ListedCheck, 'id' | 'level'>[];
  /** Why it cannot be tested; empty when it can. */
  readonly unseen: string;
}

/** All rules, in order. */
export function ruleEntries(): readonly RuleEntry[] {
  const rules = new Set([...Object.keys(UNSEEN), ...ALL_CHECKS.flatMap((check) => check.rules)]);
  return [...rules].sort().map((rule) => ({
    rule,
    checks: ALL_CHECKS.filter((check) => check.rules.includes(rule)),
    unseen: UNSEEN[rule] ?? '',
  }));
}

/** The table of docs/conformance.md. */
export function rulesTable(): string {
  const marked = ({ id, level }: RuleEntry['checks'][number]): string => `\`${id}\`${level === 'must' ? '' : ` (${level})`}`;
  const rows = ruleEntries().map(({ rule, checks, unseen }) => `| ${rule} | ${checks.map(marked).join(', ') || unseen} |`);
  return ['| Rule | Check, or why it cannot be seen from outside |', '| --- | --- |', ...rows].join('\n');
}
