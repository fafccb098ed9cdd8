// Settings that a program gives in code: the keys of a configuration file, as one object.
import { closest } from './naming.ts';
import type { Problem } from './problems.ts';
import { isMapping } from './rules.ts';
import { isRule, RULES, SCHEMA, type Section, type Written } from './schema.ts';
import { originText, unknownName, type Given, type Source } from './sources.ts';

/** Everything that a configuration file may contain, with the same names; omitted settings have their defaults. */
export type WrittenSettings = Written<typeof SCHEMA>;

const ORIGIN = { kind: 'code' } as const;

/** Reads the settings like a file; the schema validates the values later. @param cwd - the folder for relative paths. */
export function readGivenSettings(settings: WrittenSettings, cwd: string): Source {
  const given: Given[] = [];
  const problems: Problem[] = [];
  const from = originText(ORIGIN, cwd);
  const read = (value: unknown, section: Section, prefix: string): void => {
    if (!isMapping(value)) {
      const mend = `keys: ${Object.keys(section).join(', ')}`;
      problems.push({
        subject: prefix === '' ? 'the settings' : prefix.slice(0, -1),
        shown: undefined,
        from,
        rule: 'must hold keys',
        mend,
      });
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      const key = `${prefix}${name}`;
      const known = Object.hasOwn(section, name) ? section[name] : undefined;
      if (known === undefined) problems.push(unknownName(key, from, closest(key, [...RULES.keys()])));
      else if (member === undefined) continue;
      else if (isRule(known)) given.push({ key, raw: member, origin: ORIGIN, baseFolder: cwd });
      else read(member, known, `${key}.`);
    }
  };
  read(settings, SCHEMA, '');
  return { given, problems };
}
