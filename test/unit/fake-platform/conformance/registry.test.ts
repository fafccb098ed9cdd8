// The list of checks: every one has a name of its own, says what it demands, and names rules.
import { describe, expect, it } from 'vitest';
import { ALL_CHECKS, CHECKS, SOCKET_CHECKS } from '../../../../src/fake-platform/conformance/registry.ts';
import { chooseChecks } from '../../../../src/fake-platform/conformance/run.ts';

describe('the checks', () => {
  it('have names of their own in kebab-case, a sentence, and rules', () => {
    for (const checks of [CHECKS, SOCKET_CHECKS, ALL_CHECKS]) expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
    for (const { id, title, rules } of ALL_CHECKS) {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)+$/u);
      expect(title, id).toMatch(/^[A-Z].*\.$/u);
      for (const rule of rules) expect(rule, id).toMatch(/^[GJOW]-[0-9A-F]{2}$/u);
    }
  });

  it('fail a server only for rules that a source of the platform shows', () => {
    const level = new Map(ALL_CHECKS.map((check) => [check.id, check.level]));
    const levels = ['end-without-settings', 'transfer-without-settings', 'unknown-path-no-upgrade'].map((id) => level.get(id));
    expect(levels).toEqual(['must', 'advice', 'ours']);
    // Design decisions of this project: no source shows them.
    const own = ['G-07', 'G-18', 'J-04', 'J-1C', 'W-07', 'W-41', 'W-46'];
    for (const { id, rules, level: found } of ALL_CHECKS) if (own.includes(rules[0])) expect(found, id).not.toBe('must');
  });

  it('are listed once, with the transports over which they hold', () => {
    const transports = new Map(ALL_CHECKS.map((check) => [check.id, check.transports]));
    expect(transports.get('chunk-size-and-form')).toEqual(['grpc']);
    expect(transports.get('ping-answered')).toEqual(['websocket']);
    expect(transports.get('schema-demanded')).toEqual(['grpc', 'websocket']);
    expect(transports.size).toBe(ALL_CHECKS.length);
  });

  it('can be chosen by rule and by id, and all are without either', () => {
    expect(chooseChecks(CHECKS, [], [])).toBe(CHECKS);
    expect(chooseChecks(CHECKS, ['G-01'], []).map(({ id }) => id)).toEqual(['other-methods-unimplemented', 'both-methods-served']);
    expect(chooseChecks(CHECKS, ['G-42'], ['one-default-agent']).map(({ id }) => id)).toEqual(['one-default-agent', 'chunk-size-and-form']);
    expect(chooseChecks(CHECKS, ['no such rule'], [])).toEqual([]);
  });
});
