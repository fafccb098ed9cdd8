// Rules for list members that are mappings, such as data sources. Knows no setting of Parley.
import { parseJson } from '../../base/json.ts';
import type { Camel } from './naming.ts';
import { closest, toCamel } from './naming.ts';
import { isMapping, REFUSED, type Place, type Rule } from './rules.ts';

type Fields = Readonly<Record<string, Rule<unknown>>>;

/** The result of a record: the members with camelCase names and final values. */
export type RecordOf<F extends Fields> = {
  readonly [K in keyof F as Camel<K & string>]: F[K] extends Rule<infer T, unknown> ? T : never;
};

type WrittenIn<R> = R extends Rule<unknown, infer W> ? W : never;

/** A record as written in a file. */
export type WrittenRecord<F extends Fields> = {
  readonly [K in keyof F as undefined extends WrittenIn<F[K]> ? never : K]: WrittenIn<F[K]>;
} & { readonly [K in keyof F as undefined extends WrittenIn<F[K]> ? K : never]?: WrittenIn<F[K]> };

/** A rule for an optional member; undefined when omitted. */
export function optional<T, W>(rule: Rule<T, W>): Rule<T | undefined, W | undefined> {
  return { ...rule, read: (value, place) => (value === undefined ? undefined : rule.read(value, place)) };
}

/** A mapping with exactly these members. */
export function record<F extends Fields>(fields: F): Rule<RecordOf<F>, WrittenRecord<F>> {
  const names = Object.keys(fields);
  const wants = `with the keys ${names.join(', ')}`;
  const holdsSecrets = Object.values(fields).some((rule) => rule.holdsSecrets);
  const mask = (value: unknown): unknown => {
    if (!isMapping(value)) return holdsSecrets ? '****' : value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ruleOf(fields, name)?.mask(member) ?? '****']));
  };
  return {
    wants,
    holdsSecrets,
    fromText: (text) => parseJson(text) ?? text,
    mask,
    read(value, place) {
      const shown = '****';
      if (!isMapping(value)) {
        place.refuse({ path: place.path, shown, wants: `a mapping ${wants}`, mend: 'write key: value lines' });
        return REFUSED;
      }
      let isWhole = true;
      for (const name of Object.keys(value).filter((given) => ruleOf(fields, given) === undefined)) {
        const meant = closest(name, names);
        // Does not show the value of an unknown member, because it may be a secret with a misspelt name.
        const mend = meant === undefined ? 'take the key out' : `write ${meant}`;
        place.refuse({ path: [...place.path, name], shown, wants: `one of the keys ${names.join(', ')}`, mend });
        isWhole = false;
      }
      const members: Record<string, unknown> = {};
      for (const name of names) {
        const read = readMember(fields, name, Object.hasOwn(value, name) ? value[name] : undefined, place);
        if (read === REFUSED) isWhole = false;
        else members[toCamel(name)] = read;
      }
      // Each field of F was read by its own rule and stored under its camelCase name, as RecordOf<F> demands.
      return isWhole ? (Object.freeze(members) as RecordOf<F>) : REFUSED;
    },
  };
}

function ruleOf(fields: Fields, name: string): Rule<unknown> | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function readMember(fields: Fields, name: string, value: unknown, place: Place): unknown {
  const rule = ruleOf(fields, name);
  if (rule === undefined) return REFUSED;
  const path = [...place.path, name];
  if (value !== undefined) return rule.read(value, { ...place, path });
  // Whether the member is optional; if not, "missing" is a clearer message than the rule's own.
  const read = rule.read(undefined, { ...place, path, refuse: () => undefined });
  if (read === REFUSED) place.refuse({ path, shown: 'missing', wants: rule.wants, mend: 'add the key' });
  return read;
}
