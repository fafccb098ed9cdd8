import { describe, expect, it } from 'vitest';
import { Catalog } from '../../../src/bot/catalog.ts';
import { bot, go, listen } from '../../../src/bot/index.ts';

const make = (id: string) =>
  bot<null>({ id, name: id.toUpperCase(), version: 1, session_start: () => go(null, listen()), otherwise: () => go(null, listen()) });

const idsOf = (catalog: Catalog, organizationId: string) => catalog.agents(organizationId).map(({ id }) => id);
const defaultsOf = (catalog: Catalog, organizationId: string) =>
  catalog
    .agents(organizationId)
    .filter(({ isDefault }) => isDefault)
    .map(({ id }) => id);

describe('the catalogue for everybody', () => {
  it('G-06 G-07 lists agents in id order with at most one default', () => {
    const catalog = new Catalog([make('b'), make('a')], { defaultBot: 'b' });
    expect(catalog.agents('any')).toEqual([
      { id: 'a', name: 'A', isDefault: false },
      { id: 'b', name: 'B', isDefault: true },
    ]);
    expect(defaultsOf(new Catalog([make('b'), make('a')]), 'any')).toEqual([]);
  });

  it('G-07 answers an empty id with the default, else the first', () => {
    expect(new Catalog([make('b'), make('a')], { defaultBot: 'b' }).find('', 'any')?.id).toBe('b');
    expect(new Catalog([make('b'), make('a')]).find('', 'any')?.id).toBe('a');
    expect(new Catalog([]).find('', 'any')).toBeUndefined();
    expect(new Catalog([make('a')]).find('z', 'any')).toBeUndefined();
  });

  it('refuses two bots with one id and a default that is not there', () => {
    expect(() => new Catalog([make('a'), make('a')])).toThrow('two bots');
    expect(() => new Catalog([make('a')], { defaultBot: 'z' })).toThrow('the default bot, "z"');
  });
});

describe('the catalogue of one organization', () => {
  const bots = ['c', 'b', 'a', 'd'].map(make);
  const catalog = new Catalog(bots, {
    defaultBot: 'b',
    organizations: [
      { organizationId: 'listed', bots: ['d', 'b'] },
      { organizationId: 'own-default', bots: ['b', 'c'], defaultBot: 'c' },
      { organizationId: 'without-default', bots: ['d', 'c'] },
      { organizationId: 'nothing', bots: [] },
    ],
  });

  it('G-05 lists exactly the bots of its list, in id order, and every bot for an organization without one', () => {
    expect(idsOf(catalog, 'listed')).toEqual(['b', 'd']);
    expect(idsOf(catalog, 'own-default')).toEqual(['b', 'c']);
    expect(idsOf(catalog, 'somebody-else')).toEqual(['a', 'b', 'c', 'd']);
    expect(idsOf(catalog, 'nothing')).toEqual([]);
  });

  it('G-07 takes its own default, else the general one where it is listed, else the first of its bots', () => {
    expect(defaultsOf(catalog, 'listed')).toEqual(['b']);
    expect(defaultsOf(catalog, 'own-default')).toEqual(['c']);
    expect(catalog.find('', 'own-default')?.id).toBe('c');
    expect(defaultsOf(catalog, 'without-default')).toEqual([]);
    expect(catalog.find('', 'without-default')?.id).toBe('c');
    expect(catalog.find('', 'nothing')).toBeUndefined();
  });

  it('does not find the agent of another organization', () => {
    expect(catalog.find('d', 'listed')?.id).toBe('d');
    expect(catalog.find('a', 'listed')).toBeUndefined();
    expect(catalog.find('a', 'nothing')).toBeUndefined();
  });

  it('shows nothing to others when others see none', () => {
    const closed = new Catalog(bots, { defaultBot: 'b', others: 'none', organizations: [{ organizationId: 'listed', bots: ['a'] }] });
    expect(idsOf(closed, 'listed')).toEqual(['a']);
    expect(idsOf(closed, 'somebody-else')).toEqual([]);
    expect(closed.find('', 'somebody-else')).toBeUndefined();
    expect(closed.find('a', 'somebody-else')).toBeUndefined();
    expect(closed.bots.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('refuses unknown bots, a default outside the list and an organization that is listed twice', () => {
    const withList = (...organizations: readonly { organizationId: string; bots: readonly string[]; defaultBot?: string }[]) => {
      return () => new Catalog(bots, { organizations });
    };
    expect(withList({ organizationId: 'o', bots: ['a', 'z'] })).toThrow(
      'a bot of an organization, "z", is not among these bots: a, b, c, d',
    );
    expect(withList({ organizationId: 'o', bots: ['a'], defaultBot: 'b' })).toThrow('the default bot of an organization, "b"');
    expect(withList({ organizationId: 'o', bots: ['a'] }, { organizationId: 'o', bots: ['b'] })).toThrow('two lists');
  });
});
