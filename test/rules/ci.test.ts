// CI runs what anybody can run: one script, on every Node line we promise, with every Debian package that some test needs.
import { statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHECKS } from '../../scripts/commands.mjs';
import { filesUnder, ROOT } from '../support/source-tree.ts';

function textOf(file: string): string {
  const [found] = filesUnder([file]);
  if (found === undefined) throw new Error(`${file} is missing`);
  return found.text;
}

describe('CI', () => {
  const script = textOf('.ci/run');

  it('is a script that can be started as it is', () => {
    expect(script).toMatch(/^#!\/usr\/bin\/env bash\n/u);
    expect(statSync(path.join(ROOT, '.ci/run')).mode & 0o111).toBe(0o111);
  });

  it('installs every Debian package that a test asks for', () => {
    const tests = filesUnder(['test', 'bots'], ['.ts']).filter(({ text }) => /\brequireDebian\b|\bDebianNeeds\b/u.test(text));
    const wanted = tests.flatMap(({ text }) =>
      [...text.matchAll(/packages: \[(?<names>'[^\]]*)\]/gu)].map(({ groups }) => groups?.['names'] ?? ''),
    );
    const names = new Set(wanted.flatMap((list) => [...list.matchAll(/'(?<name>[^']+)'/gu)].map(({ groups }) => groups?.['name'] ?? '')));
    expect(names.size).toBeGreaterThan(0);
    const installed = /DEBIAN_PACKAGES=\((?<names>[^)]*)\)/u.exec(script)?.groups?.['names']?.split(/\s+/u) ?? [];
    expect([...names].filter((name) => !installed.includes(name))).toEqual([]);
  });

  it('kills what does not end in its time and does not listen either', () => {
    const limits = script.split('\n').filter((line) => /\btimeout\b/u.test(line));
    expect(limits.length).toBeGreaterThan(3);
    expect(limits.filter((line) => !/\btimeout --kill-after=\d+ "/u.test(line))).toEqual([]);
  });

  it('demands the tests that need them, and depends on no audit', () => {
    expect(script).toContain('export PARLEY_DEMAND_ALL=1');
    expect(script).not.toMatch(/npm audit/u);
  });

  it('runs on every Node line, the floor of package.json included, by the same script', () => {
    const workflow: unknown = parse(textOf('.github/workflows/check.yml'));
    expect(workflow).toMatchObject({
      jobs: {
        check: { strategy: { matrix: { node: ['20.19', 22, 24] } }, steps: expect.arrayContaining([{ run: '.ci/run' }]) as unknown },
        next: { steps: expect.arrayContaining([{ run: 'npm run test:unit' }]) as unknown },
      },
    });
    const manifest: unknown = JSON.parse(textOf('package.json'));
    expect(manifest).toMatchObject({ engines: { node: expect.stringMatching(/^>=20\.19\./u) as string } });
  });
});

const STEP = z.object({ run: z.string().default(''), uses: z.string().default(''), if: z.string().optional() });
const JOB = z.object({
  uses: z.string().optional(),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  permissions: z.record(z.string(), z.string()).default({}),
  steps: z.array(STEP).default([]),
});
const WORKFLOW = z.object({ permissions: z.record(z.string(), z.string()), jobs: z.record(z.string(), JOB) });
const WORKFLOWS = filesUnder(['.github/workflows']).map(({ path: file, text }) => ({
  ...{ file: path.basename(file), text },
  ...WORKFLOW.parse(parse(text)),
}));

function workflow(name: string): (typeof WORKFLOWS)[number] {
  const found = WORKFLOWS.find(({ file }) => file === name);
  if (found === undefined) throw new Error(`${name} is missing`);
  return found;
}

describe('every workflow', () => {
  it('may read and no more, names actions by their commit, and runs checks that are there', () => {
    expect(WORKFLOWS.map(({ file }) => file)).toEqual(expect.arrayContaining(['check.yml', 'nightly.yml', 'release.yml']));
    expect(WORKFLOWS.filter(({ permissions }) => JSON.stringify(permissions) !== '{"contents":"read"}')).toEqual([]);
    const steps = WORKFLOWS.flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
    expect(steps.map(({ uses }) => uses).filter((uses) => !/^(?:[\w-]+(?:\/[\w-]+){1,2}@[\da-f]{40})?$/u.test(uses))).toEqual([]);
    const checks = steps.flatMap(({ run }) => /npm run (?:--silent )?check -- (?<name>\S+)/u.exec(run)?.groups?.['name'] ?? []);
    expect(checks.filter((name) => !(name in CHECKS))).toEqual([]);
  });
});

describe('a release', () => {
  const { jobs, text } = workflow('release.yml');
  const runsOf = (job: string): string => (jobs[job]?.steps ?? []).map(({ run }) => run).join('\n');
  const isBehind = (job: string, other: string): boolean =>
    [jobs[job]?.needs ?? []].flat().some((needed) => needed === other || isBehind(needed, other));

  it('is published only when everything has passed that a change must pass, and stands beside the last one', () => {
    expect(jobs['check']?.uses).toBe('./.github/workflows/check.yml');
    expect(workflow('check.yml').text).toContain('workflow_call:');
    expect(runsOf('upgrade')).toContain('npm run check -- upgrade');
    for (const job of ['check', 'upgrade', 'build', 'image']) expect(isBehind('publish', job), job).toBe(true);
  });

  it('has packages with provenance, their sums, the list of packages, an image by its digest, and its lines of the changelog', () => {
    expect(runsOf('build')).toMatch(/build -- --pack --repository[^]*changelog --release/u);
    expect(runsOf('image')).toMatch(/NODE_DIGEST=[^]*containerimage\.digest[^]*image\.txt/u);
    expect(runsOf('publish')).toMatch(/sha256sum --check[^]*npm publish [^\n]*--provenance[^]*\*\.cdx\.json SHA256SUMS image\.txt/u);
  });

  it('gives the right to publish to one job, which installs nothing, and keeps no token of the registry', () => {
    expect(Object.entries(jobs).flatMap(([name, { permissions }]) => ('id-token' in permissions ? [name] : []))).toEqual(['publish']);
    expect(runsOf('publish')).not.toMatch(/npm (?:ci|install|run)/u);
    expect(text).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN|_authToken|registry-url/u);
  });
});

describe('every night', () => {
  it('somebody learns of advisories, of old packages, of a break with the last release, and of what fuzzing finds', () => {
    const runs = Object.values(workflow('nightly.yml').jobs).flatMap(({ steps }) => steps.map(({ run }) => run));
    expect(runs).toEqual(
      expect.arrayContaining(['npm audit --omit=dev --json', 'npm run check -- dependencies', 'npm run check -- upgrade']),
    );
    expect(runs).toContainEqual(expect.stringMatching(/^npm run check -- fuzz/u));
  });

  it('what fuzzing has kept is there the next night, also after a finding', () => {
    const uses = (workflow('nightly.yml').jobs['fuzz']?.steps ?? []).map(({ uses: action, if: when }) => [action.split('@')[0], when]);
    expect(uses).toEqual(
      expect.arrayContaining([
        ['actions/cache/restore', undefined],
        ['actions/cache/save', 'always()'],
      ]),
    );
  });
});
