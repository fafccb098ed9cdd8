import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { openCatalog } from '../../../src/app/open-catalog.ts';
import { bot, go, listen } from '../../../src/bot/index.ts';

const bots = ['code-line', 'echo', 'front-desk'].map((id) =>
  bot<null>({ id, name: id, version: 1, session_start: () => go(null, listen()), otherwise: () => go(null, listen()) }),
);

const VALID = ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'];

const open = (...argv: readonly string[]) => {
  const { settings } = loadSettings({ argv: [...VALID, ...argv], env: {}, cwd: '/' });
  return openCatalog(bots, settings.bots, (key) => `my.yaml, ${key}`);
};

describe('the catalogue from the settings', () => {
  it('takes default, lists and others from bots.*', () => {
    const lists = [{ organization_id: 'o', bots: ['front-desk', 'echo'], default_bot: 'front-desk' }];
    const catalog = open('--bots.default_bot=echo', '--bots.others=none', `--bots.organizations=${JSON.stringify(lists)}`);
    expect(catalog.agents('o').map(({ id, isDefault }) => [id, isDefault])).toEqual([
      ['echo', false],
      ['front-desk', true],
    ]);
    expect(catalog.agents('p')).toEqual([]);
  });

  it('lists every unknown bot with its place, the known ones and what was meant', () => {
    const lists = [
      { organization_id: 'o', bots: ['echo'] },
      { organization_id: 'p', bots: ['echo', 'frontdesk'] },
    ];
    expect(() => open('--bots.default_bot=reception', `--bots.organizations=${JSON.stringify(lists)}`)).toThrow(
      [
        '2 settings are wrong:',
        '  bots.default_bot = reception   (my.yaml, bots.default_bot)',
        '    rule: must be the id of a loaded bot: code-line, echo, front-desk',
        '    mend: choose one of them, or add the bot module to the bots folder (`parley bots list`)',
        '  bots.organizations[1].bots[1] = frontdesk   (my.yaml, bots.organizations)',
        '    rule: must be the id of a loaded bot: code-line, echo, front-desk',
        '    mend: did you mean front-desk?',
      ].join('\n'),
    );
  });
});
