// The sources of settings in order of precedence: the default file, then the operator's file, variables and flags, or the settings given in
// code. Every source yields values with their origins; the schema validates them later.
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { closest } from './naming.ts';
import type { Problem } from './problems.ts';
import { KEYS_BY_VARIABLE, RULES } from './schema.ts';
import type { Path } from './rules.ts';

/** The origin of a value. Files are absolute; lines start at 1. `code`: the embedding program. */
export type Origin =
  | { readonly kind: 'code' }
  | { readonly kind: 'default' | 'file'; readonly file: string; readonly line: number }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string };

/** The file that `parley init` wrote in the current folder, if no other file is named; undefined without one. */
export function projectFile(): string | undefined {
  return process.env['PARLEY_CONFIG'] === undefined && existsSync(resolve(process.cwd(), 'parley.yaml')) ? 'parley.yaml' : undefined;
}

/** The value of a variable that is no setting: a secret whose variable a file names, or one set by a service manager. */
export function environmentValue(variable: string): string | undefined {
  return process.env[variable];
}

export interface Given {
  readonly key: string;
  readonly raw: unknown;
  readonly origin: Origin;
  /** Absolute folder for relative paths in the value. */
  readonly baseFolder: string;
  /** The line of a member inside the value; undefined for sources without lines. */
  readonly lineAt?: (path: Path) => number;
}

export interface Source {
  readonly given: readonly Given[];
  readonly problems: readonly Problem[];
}

export interface CommandLine extends Source {
  /** The file named by `--config`, as written; undefined without the flag. */
  readonly configFile: string | undefined;
}

/** Variables with our prefix that are no settings: the operator's file, and the switch of the test suite. */
const OTHER_VARIABLES: readonly string[] = ['PARLEY_CONFIG', 'PARLEY_DEMAND_ALL'];

/** Names of variables with which Kubernetes injects the addresses of a service named `parley…`. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/u;

/** An origin as short text; files below `cwd` are relative to it. */
export function originText(origin: Origin, cwd: string, line?: number): string {
  if (origin.kind === 'code') return 'the settings given to createServer';
  if (origin.kind === 'environment') return origin.variable;
  if (origin.kind === 'flag') return origin.flag;
  return `${fileText(origin.file, cwd)}:${String(line ?? origin.line)}`;
}

/** The path of a file as an operator in `cwd` would write it. */
export function fileText(file: string, cwd: string): string {
  const near = relative(cwd, file);
  return near.startsWith('..') ? file : near;
}

/** The problem of an unknown name. Does not show the value, because it may be a secret with a misspelt name. */
export function unknownName(subject: string, from: string, meant: string | undefined): Problem {
  const mend = meant === undefined ? 'take it out; config/default.yaml lists every key' : `did you mean ${meant}?`;
  return { subject, shown: undefined, from, rule: 'the key is not known', mend };
}

/** Reads every variable that starts with PARLEY_. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>, cwd: string): Source {
  const given: Given[] = [];
  const problems: Problem[] = [];
  for (const variable of Object.keys(env).sort()) {
    const raw = env[variable];
    if (!variable.startsWith('PARLEY_') || raw === undefined || OTHER_VARIABLES.includes(variable)) continue;
    const key = KEYS_BY_VARIABLE.get(variable);
    if (key !== undefined) {
      given.push({ key, raw: RULES.get(key)?.fromText(raw), origin: { kind: 'environment', variable }, baseFolder: cwd });
    } else if (!SERVICE_LINK.test(variable) && !raw.startsWith('tcp://')) {
      problems.push(unknownName(variable, 'environment', closest(variable, [...KEYS_BY_VARIABLE.keys(), ...OTHER_VARIABLES])));
    }
  }
  return { given, problems };
}

/** Suffixes of the platform's own variables, with the settings that they set. */
const PLATFORM_VARIABLES: Readonly<Record<string, string>> = {
  INTEGRATION_CLIENT_ID: 'admin.integration.client_id',
  INTEGRATION_CLIENT_SECRET: 'admin.integration.client_secret',
  INTEGRATION_REDIRECT_URI: 'admin.integration.redirect_uri',
  SA_CLIENT_ID: 'admin.service_app.client_id',
  SA_CLIENT_SECRET: 'admin.service_app.client_secret',
};

/** Reads the credentials in the variables of the platform's own tools. @param prefix - their prefix, from the profile. */
export function readPlatformEnvironment(prefix: string, env: Readonly<Record<string, string | undefined>>, cwd: string): Source {
  const given = Object.entries(PLATFORM_VARIABLES).flatMap(([ending, key]) => {
    const variable = prefix + ending;
    const raw = env[variable];
    if (raw === undefined || raw === '') return [];
    return [{ key, raw: RULES.get(key)?.fromText(raw), origin: { kind: 'environment', variable }, baseFolder: cwd } satisfies Given];
  });
  return { given, problems: [] };
}

/** Reads `--key value`, `--key=value` and `--config FILE`. A flag without a value is true. The last of several equal flags wins. */
export function readFlags(argv: readonly string[], cwd: string): CommandLine {
  const given = new Map<string, Given>();
  const problems: Problem[] = [];
  let configFile: string | undefined;
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? '';
    const [, name, attached] = /^--([^=]+)(?:=(.*))?$/su.exec(argument) ?? [];
    if (name === undefined) {
      const rule = 'only flags are understood here: --section.key=value';
      problems.push({ subject: 'an argument', shown: undefined, from: `argument ${String(index + 1)}`, rule, mend: 'take it out' });
      continue;
    }
    const flag = `--${name}`;
    const rule = RULES.get(name);
    const following = argv[index + 1];
    const isAlone = attached === undefined && (following === undefined || following.startsWith('--'));
    if (attached === undefined && !isAlone) index++;
    const text = attached ?? (isAlone ? undefined : following);
    if (rule === undefined && name !== 'config') {
      const meant = closest(name, [...RULES.keys(), 'config']);
      problems.push(unknownName(flag, 'command line', meant === undefined ? undefined : `--${meant}`));
    } else if (text === undefined && rule?.wants !== 'true or false') {
      problems.push({ subject: flag, shown: undefined, from: 'command line', rule: 'the flag needs a value', mend: `write ${flag}=VALUE` });
    } else if (rule === undefined) {
      configFile = text;
    } else {
      given.set(name, { key: name, raw: rule.fromText(text ?? 'true'), origin: { kind: 'flag', flag }, baseFolder: cwd });
    }
  }
  return { given: [...given.values()], problems, configFile };
}

/** The absolute path of the operator's file; undefined when none is named. A flag takes precedence over the variable. */
export function configFileOf(
  flags: CommandLine,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): { readonly file: string; readonly from: string } | undefined {
  if (flags.configFile !== undefined) return { file: resolve(cwd, flags.configFile), from: '--config' };
  const named = env['PARLEY_CONFIG'];
  return named === undefined || named === '' ? undefined : { file: resolve(cwd, named), from: 'PARLEY_CONFIG' };
}
