// The platform profile: all names that are specific to the platform, as data. Reads and checks it; does not know how
// the names are used. A profile contains no code and no secrets.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { packageRoot } from '../base/package-root.ts';
import { profileSchema } from './profile-schema.ts';

/** Names of one platform; frozen. */
export type PlatformProfile = z.infer<typeof profileSchema>;

/** Longest profile, bytes. */
const MAX_PROFILE_BYTES = 65_536;
/** Most problems in one error. */
const MAX_PROBLEMS = 50;
const NAME = /^[a-z0-9][a-z0-9-]*$/;

/** Shipped profiles that were read, by file: parsing one takes a while, and some programs ask often. */
const shippedProfiles = new Map<string, { readonly text: string; readonly profile: PlatformProfile }>();

/**
 * Reads a profile from YAML.
 *
 * @param origin - the source of the text, for the error.
 * @throws AppError `profile_invalid` that lists every problem with its key, its value and its correction.
 */
export function parseProfile(text: string, origin: string): PlatformProfile {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) {
    throw invalid(
      origin,
      document.errors.map((error) => `- line ${String(lineOf(text, error.pos[0]))}: ${error.message}`),
    );
  }
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 10 });
  } catch (cause) {
    throw invalid(origin, ['- too many YAML aliases: write the values out'], cause);
  }
  const parsed = profileSchema.safeParse(content, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalid(origin, parsed.error.issues.flatMap(problemsOf));
}

/**
 * Reads a profile from a file.
 *
 * @param nameOrPath - the name of a shipped profile (`config/platforms/NAME.yaml`), or the path of a file.
 * @throws AppError `profile_invalid` as {@link parseProfile}, and when there is no such file.
 */
export function loadProfile(nameOrPath: string): PlatformProfile {
  const shipped = path.join(packageRoot(), 'config', 'platforms');
  const isShipped = NAME.test(nameOrPath);
  const file = isShipped ? path.join(shipped, `${nameOrPath}.yaml`) : path.resolve(nameOrPath);
  if (!existsSync(file) || !statSync(file).isFile()) {
    const names = readdirSync(shipped).filter((name) => name.endsWith('.yaml'));
    throw invalid(nameOrPath, [
      `- there is no file ${file}: name one of ${names.map((name) => name.slice(0, -5)).join(', ')}, or give a path`,
    ]);
  }
  if (statSync(file).size > MAX_PROFILE_BYTES) {
    throw invalid(nameOrPath, [`- ${file} is longer than ${String(MAX_PROFILE_BYTES)} bytes: it is too long for a profile`]);
  }
  const text = readFileSync(file, 'utf8');
  const known = shippedProfiles.get(file);
  if (known?.text === text) return known.profile;
  const profile = parseProfile(text, file);
  if (isShipped) shippedProfiles.set(file, { text, profile });
  return profile;
}

function invalid(origin: string, problems: readonly string[], cause?: unknown): AppError {
  const count = problems.length === 1 ? 'one problem' : `${String(problems.length)} problems`;
  const listed = problems.slice(0, MAX_PROBLEMS);
  if (listed.length < problems.length) listed.push(`… and ${String(problems.length - listed.length)} more`);
  return new AppError('profile_invalid', `the platform profile ${origin} has ${count}:\n${listed.join('\n')}`, {
    details: { origin, problems: problems.length },
    cause,
  });
}

function problemsOf(issue: z.core.$ZodIssue): string[] {
  const at = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `- ${at === '' ? key : `${at}.${key}`} is not a key of a profile: remove it or correct its spelling`);
  }
  if (issue.input === undefined) return [`- ${at} is missing: ${correctionOf(issue)}`];
  return [`- ${at === '' ? 'the file' : at} is ${shown(issue.input)}: ${correctionOf(issue)}`];
}

/** The correction of a fault. Only single values, not sections, have their own. */
function correctionOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' && issue.expected === 'object' ? 'give a section of keys; compare config/platforms/' : issue.message;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}
