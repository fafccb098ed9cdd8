// Settings whose secrets are in files of their own that may change while the server runs: names the files, and reads them again. The caller
// decides when. The paths of the files stay as they were at start.
import { AppError } from '../../base/errors.ts';
import { filesNamedIn, REFUSED, type Fault, type Rule } from './rules.ts';
import { SCHEMA, type SettingKey } from './schema.ts';
import type { Settings } from './settings.ts';
import type { Given } from './sources.ts';

const NOTHING = Buffer.alloc(0);

export interface ChangingSetting<T> {
  /** Absolute paths; empty when the value is in the configuration itself. */
  readonly files: readonly string[];
  /**
   * The value for these file contents, given in the order of `files`. Gets contents instead of reading the files, because a file may be
   * half written.
   *
   * @throws AppError `config_invalid`; the message contains no secret.
   */
  read(contents: readonly Buffer[]): T;
}

/** The settings that can be read again. */
export interface ChangingSettings {
  readonly storeKeys: ChangingSetting<Settings['store']['keys']>;
  readonly adminStoreKeys: ChangingSetting<Settings['admin']['store']['keys']>;
  readonly dataSources: ChangingSetting<Settings['auth']['dataSources']>;
  readonly viewToken: ChangingSetting<Settings['ops']['console']['viewToken']>;
  readonly listenToken: ChangingSetting<Settings['ops']['console']['listenToken']>;
  readonly proxyKey: ChangingSetting<Settings['ops']['console']['proxyKey']>;
}

/** @param givenOf - returns the value of a setting as a source gave it. */
export function changingSettings(givenOf: (key: SettingKey) => Given): ChangingSettings {
  const changing = <T>(key: SettingKey, rule: Rule<T, unknown>): ChangingSetting<T> => {
    const { raw, baseFolder } = givenOf(key);
    const files = filesNamedIn(raw, baseFolder);
    return {
      files,
      read: (contents) => {
        const contentOf = (file: string): Buffer => contents[files.indexOf(file)] ?? NOTHING;
        return readAnew(key, rule, { raw, baseFolder }, contentOf);
      },
    };
  };
  return {
    storeKeys: changing('store.keys', SCHEMA.store.keys),
    adminStoreKeys: changing('admin.store.keys', SCHEMA.admin.store.keys),
    dataSources: changing('auth.data_sources', SCHEMA.auth.data_sources),
    viewToken: changing('ops.console.view_token', SCHEMA.ops.console.view_token),
    listenToken: changing('ops.console.listen_token', SCHEMA.ops.console.listen_token),
    proxyKey: changing('ops.console.proxy_key', SCHEMA.ops.console.proxy_key),
  };
}

function readAnew<T>(
  key: SettingKey,
  rule: Rule<T, unknown>,
  { raw, baseFolder }: Pick<Given, 'raw' | 'baseFolder'>,
  contentOf: (file: string) => Buffer,
): T {
  const faults: Fault[] = [];
  const refuse = (fault: Fault): void => {
    faults.push(fault);
  };
  const value = rule.read(raw, { baseFolder, path: [], refuse, contentOf });
  if (value !== REFUSED) return value;
  const [fault] = faults;
  const place = [key, ...(fault?.path ?? [])].join('.');
  throw new AppError('config_invalid', `${place} must be ${fault?.wants ?? rule.wants}: ${fault?.mend ?? 'mend it'}`);
}
