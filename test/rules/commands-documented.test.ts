// Every command line of the documents is one that the program understands: its commands, operands and options exist, and
// flags of settings name settings. What the commands do, the tests of the commands prove.
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { RULES } from '../../src/app/config/schema.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { filesUnder } from '../support/source-tree.ts';

/** Lines of `sh` blocks that run the program, by document. */
const documented = filesUnder(['README.md', 'CONTRIBUTING.md', 'docs'])
  .filter(({ path }) => path.endsWith('.md'))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/^```sh\n(?<block>[\s\S]*?)^```/gmu)]
      .flatMap(({ groups }) => (groups?.['block'] ?? '').split('\n'))
      .map((line) => /^(?:npm run parley -- |parley |node dist\/src\/cli\/main\.js )(?<words>.*)$/u.exec(line)?.groups?.['words'])
      .flatMap((words) => (words === undefined ? [] : [words.replace(/ +#.*$/u, '')]))
      .map((words) => ({ path, words })),
  );

/** What is wrong with a command line; empty when nothing is. */
async function problemsOf(line: string): Promise<readonly string[]> {
  const words = [...line.matchAll(/'[^']*'|"[^"]*"|\S+/gu)].map(([word]) => word);
  let command: Command | undefined = await COMMANDS.get(words.shift() ?? '')?.(() => undefined);
  if (command === undefined) return ['there is no such command'];
  for (;;) {
    const sub: Command | undefined = command.commands.find((each) => each.name() === words[0]);
    if (sub === undefined) break;
    command = sub;
    words.shift();
  }
  const problems: string[] = [];
  let operands = 0;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [name = '', value] = word.split('=', 2);
    const known = command.options.find((option) => option.long === name || option.short === name);
    if (!word.startsWith('-')) operands += 1;
    else if (known !== undefined) {
      const takesValue = known.required || known.optional;
      if (takesValue && value === undefined && words.shift() === undefined) problems.push(`${name} lacks its value`);
      while (known.variadic && words[0]?.startsWith('-') === false) words.shift();
    } else if (name !== '--help' && ![...RULES.keys()].some((key) => `--${key}` === name)) problems.push(`there is no ${name}`);
  }
  const needed = command.registeredArguments.filter(({ required }) => required).length;
  if (operands < needed || operands > command.registeredArguments.length) problems.push(`${String(operands)} operands`);
  return problems;
}

describe('the command lines of the documents', () => {
  it('are there', () => {
    expect(documented.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/admin.md']));
    expect(documented.length).toBeGreaterThan(20);
  });

  it.each(documented)('$path: parley $words', async ({ words }) => {
    expect(await problemsOf(words)).toEqual([]);
  });

  it.each([
    ['fly', 'there is no such command'],
    ['admin orgs show', '0 operands'],
    ['admin orgs list --wings', 'there is no --wings'],
    ['doctor --config', '--config lacks its value'],
    ['config --grpc.wings=2', 'there is no --grpc.wings'],
  ])('would not be %s', async (line, problem) => {
    expect(await problemsOf(line)).toEqual([problem]);
  });
});
