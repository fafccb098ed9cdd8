import { describe, expect, it } from 'vitest';
import type { Check, CheckId, CheckTask } from '../../../../src/admin/doctor/check.ts';
import type { Finding, Severity } from '../../../../src/admin/doctor/finding.ts';
import { runDoctor, type DoctorOptions } from '../../../../src/admin/doctor/run-doctor.ts';
import type { Subject } from '../../../../src/admin/doctor/subject.ts';
import { AppError, ERROR_MENDS } from '../../../../src/base/errors.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { foundIn, patients } from './patient.ts';

const { admit } = patients();
const ALL: Subject = { text: 'all', path: ['all'] };

function below(name: string): Subject {
  return { text: name, path: ['all', name] };
}

function check(
  id: CheckId,
  run: CheckTask['run'],
  { needs = [], subjects = [ALL] }: { needs?: CheckId[]; subjects?: Subject[] } = {},
): Check {
  return { id, title: `${id} is right`, needs, tasks: () => subjects.map((subject) => ({ subject, run })) };
}

function wrong(severity: Severity = 'fault'): Finding {
  return { code: 'not_active', severity, what: 'it is wrong', where: 'here', mend: 'Mend it.' };
}

/** A check that ends as the test decides. */
function held(id: CheckId, needs: CheckId[] = []) {
  let end: (findings: readonly Finding[]) => void = () => undefined;
  const state = { isStarted: false, isAborted: false };
  const made = check(
    id,
    ({ signal }) => {
      state.isStarted = true;
      signal.addEventListener('abort', () => (state.isAborted = true));
      return new Promise((resolve) => (end = resolve));
    },
    { needs },
  );
  return {
    check: made,
    state,
    end: (findings: readonly Finding[] = []) => {
      end(findings);
    },
  };
}

async function examined(checks: readonly Check[], options: Partial<DoctorOptions> = {}) {
  const context = (await admit({ port: 1 })).context();
  const clock = new FakeClock();
  const running = runDoctor(checks, context, { signal: new AbortController().signal, clock, perCheckMs: 1000, ...options });
  return { running, clock };
}

describe('the doctor', () => {
  it('runs independent checks in parallel, and reports them in their order', async () => {
    const first = held('schema');
    const second = held('url');
    const { running } = await examined([first.check, second.check]);
    await flushMicrotasks();
    expect([first.state.isStarted, second.state.isStarted]).toEqual([true, true]);
    second.end([wrong()]);
    await flushMicrotasks();
    first.end();
    expect((await running).map(({ id, state }) => [id, state])).toEqual([
      ['schema', 'ok'],
      ['url', 'found'],
    ]);
  });

  it('reports each check when it ends, with the number of checks, skipped ones included', async () => {
    const told: string[] = [];
    const first = held('schema');
    const last = check('test_token', () => [], { needs: ['schema'] });
    const { running } = await examined([first.check, check('url', () => []), last], {
      onResult: ({ id, state }, checks) => told.push(`${id} ${state} of ${String(checks)}`),
    });
    await flushMicrotasks();
    expect(told).toEqual(['url ok of 3']);
    first.end([wrong()]);
    await running;
    expect(told).toEqual(['url ok of 3', 'schema found of 3', 'test_token skipped of 3']);
  });

  it('makes no more at once than it may', async () => {
    const all = (['schema', 'url', 'status'] as const).map((id) => held(id));
    const { running } = await examined(
      all.map((each) => each.check),
      { maxParallel: 2 },
    );
    await flushMicrotasks();
    expect(all.map(({ state }) => state.isStarted)).toEqual([true, true, false]);
    all[1]?.end();
    await flushMicrotasks();
    expect(all.map(({ state }) => state.isStarted)).toEqual([true, true, true]);
    for (const each of all) each.end();
    expect(await running).toHaveLength(3);
  });

  it('waits for what a check needs, and leaves it out when that is at fault, also at second hand', async () => {
    const ground = held('data_source');
    const next = held('schema', ['data_source']);
    const last = check('test_token', () => [], { needs: ['schema'] });
    const { running } = await examined([ground.check, next.check, last]);
    await flushMicrotasks();
    expect(next.state.isStarted).toBe(false);
    ground.end([wrong('warning'), wrong()]);
    const results = await running;
    expect(results.map(({ state }) => state)).toEqual(['found', 'skipped', 'skipped']);
    expect(results[1]?.reason).toBe('it needs "data_source is right" (data_source), which is not so or not known');
    expect(results[2]?.reason).toContain('(schema)');
  });

  it('goes on when what a check needs only warned, or had nothing to look at', async () => {
    const { running } = await examined([
      check('data_source', () => [wrong('warning')]),
      check('schema', () => ({ skipped: 'nothing there' })),
      check('url', () => [], { needs: ['data_source', 'schema'] }),
    ]);
    expect((await running).map(({ state }) => state)).toEqual(['found', 'skipped', 'ok']);
  });

  it('holds a fault against the subject that has it and those within it, and no other', async () => {
    const one = below('one');
    const within: Subject = { text: 'within one', path: [...one.path, 'within'] };
    const ground: Check = {
      ...check('data_source', () => []),
      tasks: () => [
        { subject: one, run: () => [wrong()] },
        { subject: below('two'), run: () => [] },
      ],
    };
    const { running } = await examined([
      ground,
      check('schema', () => [], { needs: ['data_source'], subjects: [one, below('two'), within] }),
    ]);
    expect((await running).map(({ subject, state }) => [subject, state])).toEqual([
      ['one', 'found'],
      ['two', 'ok'],
      ['one', 'skipped'],
      ['two', 'ok'],
      ['within one', 'skipped'],
    ]);
  });

  it('gives up a check that does not end, and aborts it', async () => {
    const slow = held('schema');
    const { running, clock } = await examined([slow.check]);
    await clock.advanceAsync(999);
    expect(slow.state.isAborted).toBe(false);
    await clock.advanceAsync(1);
    expect(foundIn(await running)).toEqual(['schema/check_timeout']);
    expect(slow.state.isAborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not broken by a check that throws: our errors speak, and others are named', async () => {
    const { running } = await examined([
      check('schema', () => {
        throw new AppError('platform_unavailable', 'GET /things: no answer');
      }),
      check('url', () => Promise.reject(new TypeError('CANARY'))),
    ]);
    const results = await running;
    expect(results.flatMap(({ findings }) => findings)).toEqual([
      { code: 'check_failed', severity: 'fault', what: 'GET /things: no answer', where: 'all', mend: ERROR_MENDS.platform_unavailable },
      {
        code: 'check_failed',
        severity: 'fault',
        what: 'the check could not be made (TypeError)',
        where: 'all',
        mend: ERROR_MENDS.internal,
      },
    ]);
  });

  it('stops when nobody waits any more, and says which checks were not made', async () => {
    const stop = new AbortController();
    const slow = held('schema');
    const { running, clock } = await examined(
      [check('organization_token', () => []), slow.check, check('url', () => [], { needs: ['schema'] })],
      { signal: stop.signal },
    );
    await flushMicrotasks();
    stop.abort();
    const results = await running;
    expect(results.map(({ state, reason }) => [state, reason])).toEqual([
      ['ok', undefined],
      ['skipped', 'the examination was interrupted'],
      ['skipped', 'the examination was interrupted'],
    ]);
    expect(slow.state.isAborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses checks in an order in which it would wait for what never comes', async () => {
    const context = (await admit({ port: 1 })).context();
    const options = { signal: new AbortController().signal, clock: new FakeClock(), perCheckMs: 1000 };
    const backwards = [check('schema', () => [], { needs: ['data_source'] }), check('data_source', () => [])];
    await expect(runDoctor(backwards, context, options)).rejects.toMatchObject({ code: 'internal' });
    const own = [check('schema', () => [], { needs: ['schema'] })];
    await expect(runDoctor(own, context, options)).rejects.toMatchObject({ code: 'internal' });
  });
});
