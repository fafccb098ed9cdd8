// Every rule that binds a server, and either the checks that show it or why nobody outside can see it. Knows no server.
import { CHECKS } from './registry.ts';

/** Why a rule cannot be seen from outside: a sentence. Rules that have a check do not stand here. */
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
  'J-05': 'Only the server itself renews its token; `npm run check:renewal` shows it for ours.',
  'J-13': 'Only an issuer that answers badly would see it, and a server trusts no issuer of ours.',
  'J-2B': 'It takes an issuer that fails; the tests of the token check show it for our server.',
  'J-2D': 'Only the server itself renews its token; `npm run check:renewal` shows it for ours.',
};

/** A rule with what is known of it from outside. */
export interface RuleEntry {
  readonly rule: string;
  /** Checks by id; empty when it cannot be seen. */
  readonly checks: readonly string[];
  /** Why it cannot be seen; empty when it can. */
  readonly unseen: string;
}

/** All rules, in order. */
export function ruleEntries(): readonly RuleEntry[] {
  const rules = new Set([...Object.keys(UNSEEN), ...CHECKS.flatMap((check) => check.rules)]);
  return [...rules].sort().map((rule) => ({
    rule,
    checks: CHECKS.filter((check) => check.rules.includes(rule)).map(({ id }) => id),
    unseen: UNSEEN[rule] ?? '',
  }));
}

/** The table of docs/conformance.md. */
export function rulesTable(): string {
  const rows = ruleEntries().map(({ rule, checks, unseen }) => `| ${rule} | ${checks.map((id) => `\`${id}\``).join(', ') || unseen} |`);
  return ['| Rule | Check, or why it cannot be seen from outside |', '| --- | --- |', ...rows].join('\n');
}
