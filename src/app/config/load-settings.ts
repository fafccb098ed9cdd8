// Loads the configuration: reads the sources, lets convict merge and validate them, checks the rules between settings, and reports all
// problems at once. Only this folder reads settings from process.env.
import convict from 'convict';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { loadProfile } from '../../contract/profile.ts';
import { changingSettings, type ChangingSettings } from './changing-settings.ts';
import { readConfigFile } from './config-file.ts';
import { readGivenSettings, type WrittenSettings } from './given-settings.ts';
import { toCamel, variableOf } from './naming.ts';
import { packageRoot, stateFolder } from '../../base/package-root.ts';
import { configInvalid, type Problem } from './problems.ts';
import { RELATIONS } from './relations.ts';
import { REFUSED, showValue, type Fault, type Rule } from './rules.ts';
import { isRule, RULES, SCHEMA, type Compiled, type Section, type SettingKey } from './schema.ts';
import type { CompiledSettings, Settings, TlsSettings } from './settings.ts';
import {
  configFileOf,
  originText,
  readEnvironment,
  readFlags,
  readPlatformEnvironment,
  type Given,
  type Origin,
  type Source,
} from './sources.ts';

export interface LoadOptions {
  /** The settings of an embedding program, instead of a file, variables and flags. */
  readonly given?: WrittenSettings;
  /** Flags after the command's name. Default: none. */
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Absolute folder for relative paths in variables and flags. Default: the current folder. */
  readonly cwd?: string;
}

/** The effective configuration and its sources. Holds secrets: never log it. */
export interface LoadedSettings {
  readonly settings: Settings;
  /** The origin of a setting's effective value. */
  origin(key: SettingKey): Origin;
  /** The effective value as written, with secrets masked. */
  masked(key: SettingKey): unknown;
  /** Settings that can be read again while the server runs. */
  readonly changing: ChangingSettings;
  /** Variables of the platform's own tools that are set but ignored, because the administration is disabled. */
  readonly ignored: readonly string[];
  /** The folder for relative paths in messages. */
  readonly cwd: string;
}

/** The configuration, and all problems that can be found without loading bots. */
export interface CheckedSettings extends Pick<LoadedSettings, 'origin' | 'cwd'> {
  readonly problems: readonly Problem[];
  /** Undefined when there are problems. */
  readonly loaded: LoadedSettings | undefined;
  /** All settings; an invalid value is replaced by its default. */
  readonly compiled: CompiledSettings;
  /** The settings about bots; undefined when their folder is invalid. */
  readonly bots: Settings['bots'] | undefined;
}

/**
 * Loads the settings; later sources win: config/default.yaml, the operator's file, PARLEY_ variables, flags; or config/default.yaml and the
 * settings given in code.
 *
 * @throws AppError `config_invalid` whose message lists every problem.
 */
export function loadSettings(options: LoadOptions = {}): LoadedSettings {
  const { loaded, problems } = checkSettings(options);
  if (loaded === undefined) throw configInvalid(problems);
  return loaded;
}

/** Settings for a command that does not serve calls. */
export interface LoadedSections<K extends keyof CompiledSettings> extends Pick<LoadedSettings, 'origin' | 'cwd'> {
  readonly settings: Pick<CompiledSettings, K>;
}

/**
 * Loads the settings of some sections. Problems of other sections are ignored, so that a laptop without certificates and secrets can use
 * the configuration of a server.
 *
 * @throws AppError `config_invalid` whose message lists every problem of these sections.
 */
export function loadSections<K extends keyof CompiledSettings>(options: LoadOptions, ...sections: readonly K[]): LoadedSections<K> {
  const { compiled, problems, origin, cwd } = checkSettings(options);
  const others = new Set<string>(Object.keys(SCHEMA).filter((name) => sections.every((section) => section !== name)));
  const own = problems.filter(({ subject }) => !others.has(subject.split('.')[0] ?? ''));
  if (own.length > 0) throw configInvalid(own);
  return { settings: compiled, origin, cwd };
}

/** As {@link loadSettings}, for callers that add their own problems before they report. */
export function checkSettings(options: LoadOptions = {}): CheckedSettings {
  const { cwd = process.cwd() } = options;
  const { sources, ignored } = sourcesOf(options, cwd);
  const [defaults] = sources;
  const problems: Problem[] = sources.flatMap((source) => source.problems);
  const effective = new Map(sources.flatMap((source) => source.given.map((given) => [given.key, given] as const)));
  const byDefault = new Map(defaults.given.map((given) => [given.key, given] as const));
  const readings = new Map<string, unknown>();
  const faulty = validate(effective, readings, (given, fault) => problems.push(problemOf(given, fault, cwd)));
  // Defaults replace invalid values, so that bots can be checked despite an invalid setting.
  for (const key of faulty) readings.set(key, readDefault(key, byDefault.get(key)));

  const compiled = compile(SCHEMA, '', readings);
  problems.push(...brokenRelations(compile(SCHEMA, '', readings, faulty), effective, cwd));
  const origin = (key: SettingKey): Origin => givenOf(effective, key).origin;
  const bots = faulty.has('bots.folder') ? undefined : compiled.bots;
  if (problems.length > 0) return { problems, loaded: undefined, compiled, bots, origin, cwd };
  const settings = Object.freeze({ ...compiled, tls: tlsOf(compiled.tls) });
  const masked = (key: SettingKey): unknown => RULES.get(key)?.mask(givenOf(effective, key).raw);
  const changing = changingSettings((key) => givenOf(effective, key));
  return { problems, loaded: { settings, origin, masked, changing, ignored, cwd }, compiled, bots, origin, cwd };
}

/** The sources to read, the defaults first. */
function sourcesOf(
  { argv = [], env = process.env, given }: LoadOptions,
  cwd: string,
): { readonly sources: readonly [Source, ...Source[]]; readonly ignored: readonly string[] } {
  const defaults = readConfigFile(join(packageRoot(), 'config', 'default.yaml'), {
    kind: 'default',
    baseFolder: stateFolder(env),
    cwd,
    namedBy: 'installation',
  });
  if (given !== undefined) return { sources: [defaults, readGivenSettings(given, cwd)], ignored: [] };
  const flags = readFlags(argv, cwd);
  const file = operatorFile(configFileOf(flags, env, cwd), cwd);
  const own = readEnvironment(env, cwd);
  const platform = platformEnvironment([defaults, ...file, own, flags], env, cwd);
  return { sources: [defaults, ...file, ...platform.used, own, flags], ignored: platform.ignored };
}

function operatorFile(named: ReturnType<typeof configFileOf>, cwd: string): readonly Source[] {
  return named === undefined
    ? []
    : [readConfigFile(named.file, { kind: 'file', baseFolder: join(named.file, '..'), cwd, namedBy: named.from })];
}

/** The variables of the platform's own tools, which the profile names. Only the administration uses them. */
function platformEnvironment(
  sources: readonly Source[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): { readonly used: readonly Source[]; readonly ignored: readonly string[] } {
  const nothing = { used: [], ignored: [] };
  const last = (key: SettingKey): Given | undefined => sources.flatMap(({ given }) => given).findLast((given) => given.key === key);
  const named = last('platform.profile');
  if (named === undefined) return nothing;
  const profile = RULES.get(named.key)?.read(named.raw, { baseFolder: named.baseFolder, path: [], refuse: () => undefined });
  if (typeof profile !== 'string') return nothing;
  try {
    const found = readPlatformEnvironment(loadProfile(profile).env.prefix, env, cwd);
    if (last('admin.enabled')?.raw === true) return { used: [found], ignored: [] };
    return { used: [], ignored: found.given.flatMap(({ origin }) => (origin.kind === 'environment' ? [origin.variable] : [])) };
  } catch {
    // The profile's error is reported by the code that needs the profile.
    return nothing;
  }
}

/**
 * Lets convict merge and validate the values.
 *
 * convict joins its findings to one string and parses text leniently ("80abc" becomes 80). So its schema has our rules as formats and no
 * defaults, which disables the parsing of text, and each problem is recorded by the rule that finds it.
 *
 * @returns the keys with invalid values.
 */
function validate(
  effective: ReadonlyMap<string, Given>,
  readings: Map<string, unknown>,
  report: (given: Given, fault: Fault) => void,
): ReadonlySet<string> {
  const faulty = new Set<string>();
  const config = convict<unknown>(
    convictSchema(SCHEMA, '', (key, rule) => {
      const given = givenOf(effective, key);
      const refuse = (fault: Fault): void => {
        report(given, fault);
      };
      const reading = rule.read(given.raw, { baseFolder: given.baseFolder, path: [], refuse });
      if (reading === REFUSED) {
        faulty.add(key);
        throw new Error('refused');
      }
      readings.set(key, reading);
    }),
    { env: {}, args: [] },
  );
  for (const given of effective.values()) config.set(given.key, given.raw);
  try {
    config.validate({ allowed: 'strict' });
  } catch (cause) {
    if (faulty.size === 0) throw new AppError('internal', 'the settings could not be validated', { cause });
  }
  // convict treats a section with a key named `default` as a value; no key may bypass validation that way.
  const unread = [...RULES.keys()].filter((key) => !readings.has(key) && !faulty.has(key));
  if (unread.length > 0) throw new AppError('internal', `the schema does not reach ${unread.join(', ')}`);
  return faulty;
}

/** Converts our schema to a convict schema. */
function convictSchema(section: Section, prefix: string, check: (key: string, rule: Rule<unknown>) => void): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(section).map(([name, node]) => {
      const key = `${prefix}${name}`;
      if (!isRule(node)) return [name, convictSchema(node, `${key}.`, check)];
      const format = (): void => {
        check(key, node);
      };
      return [name, { default: null, format, doc: node.wants, env: variableOf(key), sensitive: node.holdsSecrets }];
    }),
  );
}

/** Thrown when a rule between settings reads a setting whose value is invalid. */
class RefusedValue extends Error {}

/** Builds the frozen tree of final values. @param refused - keys that throw {@link RefusedValue} when they are read. */
function compile<S extends Section>(
  section: S,
  prefix: string,
  readings: ReadonlyMap<string, unknown>,
  refused: ReadonlySet<string> = new Set(),
): Compiled<S> {
  const members: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(section)) {
    const key = `${prefix}${name}`;
    const get = (): never => {
      throw new RefusedValue(key);
    };
    if (refused.has(key)) Object.defineProperty(members, toCamel(name), { get, enumerable: true });
    else members[toCamel(name)] = isRule(node) ? readings.get(key) : compile(node, `${key}.`, readings, refused);
  }
  // Each member was read by its rule in S, or is a section built the same way.
  return Object.freeze(members) as Compiled<S>;
}

/** The problems that rules between settings find. A rule that reads an invalid value is skipped. */
function brokenRelations(settings: CompiledSettings, effective: ReadonlyMap<string, Given>, cwd: string): readonly Problem[] {
  return RELATIONS.flatMap(({ key, holds, rule, mend }) => {
    try {
      if (holds(settings)) return [];
      return [{ subject: key, shown: shownOf(effective, key), from: originText(givenOf(effective, key).origin, cwd), rule, mend }];
    } catch (thrown) {
      if (thrown instanceof RefusedValue) return [];
      throw thrown;
    }
  });
}

function problemOf(given: Given, fault: Fault, cwd: string): Problem {
  const subject = fault.path.reduce<string>(
    (way, step) => (typeof step === 'number' ? `${way}[${String(step)}]` : `${way}.${step}`),
    given.key,
  );
  const from = originText(given.origin, cwd, given.lineAt?.(fault.path));
  return { subject, shown: fault.shown, from, rule: `must be ${fault.wants}`, mend: fault.mend };
}

function readDefault(key: string, given: Given | undefined): unknown {
  const rule = RULES.get(key);
  const reading =
    given === undefined ? REFUSED : rule?.read(given.raw, { baseFolder: given.baseFolder, path: [], refuse: () => undefined });
  if (reading === REFUSED) throw new AppError('internal', `config/default.yaml has no valid ${key}`);
  return reading;
}

function givenOf(effective: ReadonlyMap<string, Given>, key: string): Given {
  const given = effective.get(key);
  if (given === undefined) throw new AppError('internal', `config/default.yaml has no ${key}`);
  return given;
}

function shownOf(effective: ReadonlyMap<string, Given>, key: string): string {
  const rule = RULES.get(key);
  return rule === undefined ? '' : showValue(rule, givenOf(effective, key).raw);
}

function tlsOf(tls: CompiledSettings['tls']): TlsSettings {
  if (tls.mode === 'off') return Object.freeze({ mode: 'off' });
  // A relation refuses this already. Checked again, because a gap in the rules must never lead to plaintext.
  if (tls.certificateFile === undefined || tls.keyFile === undefined) throw new AppError('internal', 'tls.mode files without files');
  const { certificateFile, keyFile, clientCaFile: caFile, clientSubjects: subjects, clientSubjectsFile: subjectsFile } = tls;
  const clients = tls.clientCertificates === 'required' ? Object.freeze({ caFile, subjects, subjectsFile }) : undefined;
  return Object.freeze({ mode: 'files', certificateFile, keyFile, clients });
}
