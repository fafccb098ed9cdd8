// What the instances of a cluster know of each other, whoever keeps their table.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { InstanceTable } from '../../src/cluster/instance-table.ts';
import { BEAT_MS, Instances, type InstancesOptions } from '../../src/cluster/instances.ts';
import { ClusterLine } from '../support/cluster-line.ts';
import { FakeClock } from '../support/fake-clock.ts';

const CALL = { organizationId: 'org', conversationId: 'call' };
const log = createLogger({ level: 'silent' });

/** One process, its line to the table, and a clock that is its alone. */
class Process {
  readonly clock = new FakeClock();
  readonly line = new ClusterLine();
  readonly instances: Instances;
  readonly dead: string[] = [];
  readonly taken: number[] = [];
  #underWay: Promise<unknown> = Promise.resolve();
  readonly beats: { readonly wasAway: boolean; readonly isNew: boolean }[] = [];

  constructor(id: string, table: InstanceTable, change: Partial<InstancesOptions> = {}) {
    const self = { id, address: `${id}:1`, certificate: `certificate of ${id}`, version: 1 };
    const lined = this.line.tableOf(table);
    const beat: InstanceTable['beat'] = (...beatOf) => {
      const answer = lined.beat(...beatOf);
      this.#underWay = answer.catch(() => undefined);
      return answer;
    };
    this.instances = new Instances({ table: { ...lined, beat }, self, clock: this.clock, log, ...change });
    this.instances.listen({
      onDead: (peer) => this.dead.push(peer.id),
      onTakenCalls: (taken) => this.taken.push(...taken.map(({ epoch }) => epoch)),
      onBeat: (beat) => this.beats.push(beat),
    });
    onTestFinished(() => this.instances.close());
  }

  static async started(id: string, table: InstanceTable): Promise<Process> {
    const process = new Process(id, table);
    await process.instances.start();
    return process;
  }

  /** Regular beats. */
  async beat(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      this.clock.advance(BEAT_MS);
      await this.#underWay;
      await setImmediate();
    }
  }
}

/** @param createView - a view of a table that is empty at the first call of a test; each process has one of its own. */
export function instancesSuite(name: string, createTable: () => { view(): InstanceTable; lose(): Promise<void> }): void {
  describe(name, () => {
    it('shows each instance the others with what they say of themselves', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      other.instances.drain();
      await other.instances.beat();
      await one.beat();
      const entry = { id: 'other', address: 'other:1', certificate: 'certificate of other', version: 1, isDraining: true };
      expect(one.instances.peers).toMatchObject([entry]);
      expect(one.instances.get('other')).toMatchObject(entry);
      expect(one.instances.lifeOf('other')).toBe('alive');
    });

    it('takes one for dead whose counter stands still over three readings in a row, and alive again with its next beat', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      await one.beat();
      await one.beat(2);
      expect(one.instances.lifeOf('other')).toBe('alive');
      await other.beat();
      await one.beat(3);
      expect(one.instances.lifeOf('other')).toBe('alive');
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('dead');
      expect(one.instances.peers).toEqual([]);
      await one.beat(2);
      expect(one.dead).toEqual(['other']);
      await other.beat();
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('alive');
    });

    it('judges nobody by readings that fail, and gives who comes back later as many again after them', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      await one.beat(3);
      for (const state of ['away', 'answers_lost'] as const) {
        one.line.state = state;
        await one.beat(5);
        expect(one.instances.isAway).toBe(true);
        one.line.state = 'up';
        await one.beat(2);
        expect(one.instances.isAway).toBe(false);
        expect(one.instances.lifeOf('other')).toBe('alive');
      }
      await one.beat(3);
      expect(one.instances.lifeOf('other')).toBe('alive');
      // Nor alive again: one that was dead stays dead.
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('dead');
      one.line.state = 'away';
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('dead');
      expect(other.dead).toEqual([]);
    });

    it('beats again for who asks while a beat is under way, which may have read before', async () => {
      const one = await Process.started('one', createTable().view());
      one.line.state = 'hanging';
      const [first, second, third] = [one.instances.beat(), one.instances.beat(), one.instances.beat()];
      one.line.state = 'up';
      expect(await Promise.all([first, second, third])).toEqual([true, true, true]);
      // The start, the one under way, and one for both who asked meanwhile.
      expect(one.beats).toHaveLength(3);
    });

    it('waits for a table that hangs no longer than a beat, and is in no doubt of itself', async () => {
      const one = await Process.started('one', createTable().view());
      one.line.state = 'hanging';
      const beat = one.instances.beat();
      one.clock.advance(BEAT_MS);
      expect(await beat).toBe(false);
      expect([one.instances.isAway, one.instances.mayBeTakenForDead]).toEqual([true, false]);
      one.line.state = 'up';
    });

    it('judges nobody by beats beside the regular ones', async () => {
      const table = createTable();
      const [one] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      await one.beat();
      for (let time = 0; time < 10; time += 1) await one.instances.beat();
      expect(one.instances.lifeOf('other')).toBe('alive');
      await one.beat(2);
      expect(one.instances.lifeOf('other')).toBe('alive');
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('dead');
    });

    it('takes one that left for dead at once, and one it has never seen after three readings', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      await one.beat();
      expect(one.instances.lifeOf('stranger')).toBe('unknown');
      await other.beat();
      await one.beat();
      expect(one.instances.lifeOf('stranger')).toBe('dead');
      await other.instances.close();
      await one.beat();
      expect(one.dead).toEqual(['other']);
      expect(one.instances.lifeOf('other')).toBe('dead');
    });

    it('takes nobody for dead because the table was lost, and reports that it was', async () => {
      const table = createTable();
      const [one] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      await one.beat(2);
      await table.lose();
      await one.beat();
      expect(one.beats.at(-1)).toEqual({ wasAway: false, isNew: true });
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('alive');
      expect(one.instances.lifeOf('stranger')).toBe('unknown');
      await one.beat();
      expect(one.dead).toEqual(['other']);
    });

    it('puts a taken call into the inbox of its old owner, who reads it with its next beat and never again', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      one.instances.notify('other', { call: CALL, epoch: 2 });
      await one.instances.beat();
      await other.beat();
      expect(other.taken).toEqual([2]);
      await other.beat(2);
      expect(other.taken).toEqual([2]);
      expect(one.taken).toEqual([]);
    });

    it('reads its inbox again when the answer was lost', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      one.instances.notify('other', { call: CALL, epoch: 2 });
      await one.instances.beat();
      other.line.state = 'answers_lost';
      await other.beat(2);
      expect(other.taken).toEqual([]);
      other.line.state = 'up';
      await other.beat(2);
      expect(other.taken).toEqual([2]);
    });

    it('notifies the old owner of a call when the table is back', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      one.line.state = 'away';
      one.instances.notify('other', { call: CALL, epoch: 2 });
      await one.beat(2);
      await other.beat();
      one.line.state = 'up';
      await one.beat(2);
      await other.beat();
      expect(other.taken).toEqual([2]);
    });

    it('knows that it has stood still so long that others may take it for dead, until a beat is answered', async () => {
      const process = await Process.started('one', createTable().view());
      await process.beat();
      process.clock.advance(BEAT_MS - 1);
      expect(process.instances.mayBeTakenForDead).toBe(false);
      process.line.state = 'away';
      await process.beat(3);
      expect(process.instances.mayBeTakenForDead).toBe(true);
      process.line.state = 'up';
      await process.beat();
      expect(process.instances.mayBeTakenForDead).toBe(false);
      expect(process.beats.at(-1)).toEqual({ wasAway: true, isNew: false });
    });

    it('leaves no timer behind, and nothing in the table', async () => {
      const table = createTable();
      const [one, other] = [await Process.started('one', table.view()), await Process.started('other', table.view())];
      await other.instances.close();
      expect(other.clock.pendingTimers).toBe(0);
      expect(await other.instances.beat()).toBe(false);
      await one.beat();
      expect(one.instances.peers).toEqual([]);
    });

    it('takes one out of the table that is dead for a minute, unless it has beaten since', async () => {
      const table = createTable();
      const view = table.view();
      const [one, other] = [await Process.started('one', view), await Process.started('other', table.view())];
      await one.beat(80);
      expect(one.instances.get('other')).toBeDefined();
      await one.beat(3);
      expect(one.instances.get('other')).toBeUndefined();
      await other.beat();
      expect(other.beats.at(-1)).toEqual({ wasAway: false, isNew: true });
      await one.beat();
      await view.remove({ id: 'other', counter: 1 });
      await one.beat();
      expect(one.instances.lifeOf('other')).toBe('alive');
    });
  });
}
