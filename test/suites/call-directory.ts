// What every directory of calls must do, whoever keeps it: each row of what its methods promise, from two processes.
import { describe, expect, it } from 'vitest';
import type { CallDirectory, Claim, ClaimRequest, LateCall, Saved } from '../../src/cluster/call-directory.ts';

const CALL = { organizationId: 'org', conversationId: 'call' };
/** Claims of one call at the same time, by as many owners. */
const CLAIMS_AT_ONCE = 2000;

/** Two views of one directory that is empty. */
export interface SharedDirectory {
  readonly one: CallDirectory;
  readonly other: CallDirectory;
}

function request(owner: string, change: Partial<ClaimRequest> = {}): ClaimRequest {
  return { owner, mayCreate: false, heardAtMs: 1000, ...change };
}

function saved(owner: string, epoch: number, seq: number, change: Partial<Saved> = {}): Saved {
  return { owner, epoch, seq, heardAtMs: 1000, snapshot: `${owner} ${String(seq)}`, ...change };
}

function late(owner: string, heardAtMs: number, change: Partial<LateCall> = {}): LateCall {
  return { owner, seq: 1, heardAtMs, snapshot: `${owner} late`, ...change };
}

/** @param create - one that is empty. */
export function callDirectorySuite(name: string, create: () => SharedDirectory): void {
  describe(name, () => {
    describe('that knows nothing of a call', () => {
      it('says so to a claim that may not create it, and keeps nothing of it', async () => {
        const { one } = create();
        expect(await one.claim(CALL, request('a'))).toEqual({ kind: 'unknown' });
        expect(await one.find(CALL)).toEqual({ kind: 'unknown' });
        expect(await one.touch(CALL)).toBe(false);
      });

      it('gives it with epoch 1 to a claim that may create it', async () => {
        const { one, other } = create();
        expect(await one.claim(CALL, request('a', { mayCreate: true }))).toEqual({ kind: 'mine', epoch: 1 });
        expect(await other.find(CALL)).toEqual({ kind: 'theirs', owner: 'a', epoch: 1 });
        expect(await other.touch(CALL)).toBe(true);
      });

      it('takes a save of its owner, who knows it from before', async () => {
        const { one, other } = create();
        expect(await one.save(CALL, saved('a', 3, 7))).toEqual({ kind: 'saved' });
        expect(await other.claim(CALL, request('b'))).toEqual({ kind: 'theirs', owner: 'a', epoch: 3 });
        expect(await other.claim(CALL, request('b', { deadEpoch: 3 }))).toEqual({
          kind: 'mine',
          epoch: 4,
          snapshot: 'a 7',
          takenFrom: ['a'],
        });
      });

      it('takes a late registration with epoch 1, never 0', async () => {
        const { one, other } = create();
        expect(await one.register(CALL, late('a', 1000))).toEqual({ kind: 'mine', epoch: 1 });
        // No dead epoch is none, whatever the call has.
        expect(await other.claim(CALL, request('b'))).toEqual({ kind: 'theirs', owner: 'a', epoch: 1 });
        expect(await other.claim(CALL, request('b', { deadEpoch: 0 }))).toEqual({ kind: 'theirs', owner: 'a', epoch: 1 });
      });

      it('remembers that it is over', async () => {
        const { one, other } = create();
        await one.forget(CALL, { owner: 'a', epoch: 2 });
        expect(await other.claim(CALL, request('b', { mayCreate: true }))).toEqual({ kind: 'ended' });
      });
    });

    describe('with a call that has an owner', () => {
      it('gives it to the same owner again under the same epoch, with what was saved: a lost answer is harmless', async () => {
        const { one } = create();
        for (let time = 0; time < 3; time += 1) {
          expect(await one.claim(CALL, request('a', { mayCreate: true }))).toEqual({ kind: 'mine', epoch: 1 });
        }
        await one.save(CALL, saved('a', 1, 1));
        expect(await one.claim(CALL, request('a'))).toEqual({ kind: 'mine', epoch: 1, snapshot: 'a 1' });
      });

      it('gives it to nobody else', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        expect(await other.claim(CALL, request('b', { mayCreate: true, beginsAnew: true }))).toEqual({
          kind: 'theirs',
          owner: 'a',
          epoch: 1,
        });
        expect(await other.claim(CALL, request('b', { deadEpoch: 2 }))).toEqual({ kind: 'theirs', owner: 'a', epoch: 1 });
      });

      it('gives it to who knows that the owner of this epoch is dead, and says from whom, also when it asks again', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 1));
        const claim: Claim = { kind: 'mine', epoch: 2, snapshot: 'a 1', takenFrom: ['a'] };
        expect(await other.claim(CALL, request('b', { deadEpoch: 1 }))).toEqual(claim);
        expect(await other.claim(CALL, request('b', { deadEpoch: 1 }))).toEqual(claim);
        expect(await one.claim(CALL, request('a'))).toEqual({ kind: 'theirs', owner: 'b', epoch: 2 });
      });

      it('names all earlier owners that may live and may not have been notified, until one has saved the call', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await other.claim(CALL, request('b', { deadEpoch: 1 }));
        expect(await one.claim(CALL, request('c', { deadEpoch: 2 }))).toEqual({ kind: 'mine', epoch: 3, takenFrom: ['a', 'b'] });
        expect(await other.register(CALL, late('b', 2000))).toEqual({ kind: 'mine', epoch: 4, takenFrom: ['a', 'c'] });
        await other.save(CALL, saved('b', 4, 2));
        expect(await one.claim(CALL, request('a', { deadEpoch: 4 }))).toEqual({
          kind: 'mine',
          epoch: 5,
          snapshot: 'b 2',
          takenFrom: ['b'],
        });
      });

      it('gives it to who takes it by force', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 1));
        const claim = await other.claim(CALL, request('b', { mayCreate: true, isForced: true }));
        expect(claim).toEqual({ kind: 'mine', epoch: 2, snapshot: 'a 1', takenFrom: ['a'] });
      });

      it('restores nothing for a conversation that begins anew (G-28)', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 1));
        const anew = request('b', { mayCreate: true, beginsAnew: true, deadEpoch: 1 });
        expect(await other.claim(CALL, anew)).toEqual({ kind: 'mine', epoch: 2, takenFrom: ['a'] });
        expect(await other.claim(CALL, request('b'))).toEqual({ kind: 'mine', epoch: 2, takenFrom: ['a'] });
      });
    });

    describe('with saves', () => {
      it('keeps the newest one, whatever order they come in', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        expect(await one.save(CALL, saved('a', 1, 2))).toEqual({ kind: 'saved' });
        expect(await one.save(CALL, saved('a', 1, 1))).toEqual({ kind: 'old' });
        expect(await one.save(CALL, saved('a', 1, 2, { snapshot: 'again' }))).toEqual({ kind: 'old' });
        expect(await other.claim(CALL, request('b', { deadEpoch: 1 }))).toMatchObject({ snapshot: 'a 2' });
      });

      it('counts them anew under each epoch', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 9));
        await other.claim(CALL, request('b', { deadEpoch: 1 }));
        expect(await other.save(CALL, saved('b', 2, 1))).toEqual({ kind: 'saved' });
        expect(await one.claim(CALL, request('a', { deadEpoch: 2 }))).toMatchObject({ epoch: 3, snapshot: 'b 1' });
      });

      it('fences an owner that has lost the call', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await other.claim(CALL, request('b', { deadEpoch: 1 }));
        expect(await one.save(CALL, saved('a', 1, 1))).toEqual({ kind: 'fenced' });
        expect(await one.save(CALL, saved('a', 2, 1))).toEqual({ kind: 'fenced' });
        expect(await other.save(CALL, saved('b', 2, 1))).toEqual({ kind: 'saved' });
      });

      it('takes one of a higher epoch, because it was given back as it was before, and says from whom', async () => {
        const { one, other } = create();
        await other.claim(CALL, request('b', { mayCreate: true }));
        expect(await one.save(CALL, saved('a', 2, 1))).toEqual({ kind: 'saved', takenFrom: ['b'] });
        expect(await other.save(CALL, saved('b', 1, 5))).toEqual({ kind: 'fenced' });
      });

      it('keeps the snapshot when one brings none', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 1));
        const { snapshot: _, ...none } = saved('a', 1, 2);
        expect(await one.save(CALL, none)).toEqual({ kind: 'saved' });
        expect(await other.claim(CALL, request('b', { deadEpoch: 1 }))).toMatchObject({ snapshot: 'a 1' });
      });

      it('returns whatever characters a snapshot has', async () => {
        const { one } = create();
        const snapshot = 'naïve – 你好 🙂 \u0000 "\\';
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 1, { snapshot }));
        expect(await one.claim(CALL, request('a'))).toMatchObject({ snapshot });
      });
    });

    describe('with a call that was released', () => {
      it('gives it to whoever claims it, with what was saved last, and says that it was taken from nobody', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        expect(await one.save(CALL, saved('a', 1, 1, { isRelease: true }))).toEqual({ kind: 'saved' });
        expect(await other.find(CALL)).toEqual({ kind: 'free' });
        expect(await other.claim(CALL, request('b'))).toEqual({ kind: 'mine', epoch: 2, snapshot: 'a 1' });
      });

      it('fences a save behind the release, and the release that is sent again', async () => {
        const { one } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 2, { isRelease: true }));
        expect(await one.save(CALL, saved('a', 1, 1))).toEqual({ kind: 'fenced' });
        expect(await one.save(CALL, saved('a', 1, 3, { isRelease: true }))).toEqual({ kind: 'fenced' });
        expect(await one.find(CALL)).toEqual({ kind: 'free' });
      });

      it('does not let an owner release that has lost it', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await other.claim(CALL, request('b', { deadEpoch: 1 }));
        expect(await one.save(CALL, saved('a', 1, 1, { isRelease: true }))).toEqual({ kind: 'fenced' });
        expect(await one.find(CALL)).toEqual({ kind: 'theirs', owner: 'b', epoch: 2 });
      });
    });

    describe('with a call that registers late', () => {
      it.each([
        { heardAtMs: 1001, what: 'later' },
        { heardAtMs: 1000, what: 'as late' },
      ])('fences it when another owner heard the caller $what', async ({ heardAtMs }) => {
        const { one, other } = create();
        await other.register(CALL, late('b', heardAtMs));
        expect(await one.register(CALL, late('a', 1000))).toEqual({ kind: 'fenced' });
        expect(await one.find(CALL)).toEqual({ kind: 'theirs', owner: 'b', epoch: 1 });
      });

      it('gives it the next epoch when it heard the caller last, and says from whom, also when it asks again', async () => {
        const { one, other } = create();
        await other.claim(CALL, request('b', { mayCreate: true, heardAtMs: 999 }));
        expect(await one.register(CALL, late('a', 1000))).toEqual({ kind: 'mine', epoch: 2, takenFrom: ['b'] });
        expect(await one.register(CALL, late('a', 1000))).toEqual({ kind: 'mine', epoch: 3, takenFrom: ['b'] });
        expect(await other.save(CALL, saved('b', 1, 1))).toEqual({ kind: 'fenced' });
      });

      it('counts a save as hearing the caller', async () => {
        const { one, other } = create();
        await other.claim(CALL, request('b', { mayCreate: true, heardAtMs: 10 }));
        await other.save(CALL, saved('b', 1, 1, { heardAtMs: 2000 }));
        expect(await one.register(CALL, late('a', 1000))).toEqual({ kind: 'fenced' });
      });

      it('gives it again to the owner itself, whose answer was lost, and who may save then', async () => {
        const { one } = create();
        await one.register(CALL, late('a', 1000));
        expect(await one.register(CALL, late('a', 1000, { seq: 2 }))).toEqual({ kind: 'mine', epoch: 2 });
        expect(await one.save(CALL, saved('a', 2, 3))).toEqual({ kind: 'saved' });
      });

      it('gives it what was released or is over, without what was saved before', async () => {
        const { one, other } = create();
        const { snapshot: _, ...none } = late('a', 1000);
        await other.save(CALL, saved('b', 1, 1, { isRelease: true, heardAtMs: 5000 }));
        expect(await one.register(CALL, none)).toEqual({ kind: 'mine', epoch: 2 });
        expect(await other.claim(CALL, request('b', { deadEpoch: 2 }))).toEqual({ kind: 'mine', epoch: 3, takenFrom: ['a'] });
        await other.forget(CALL, { owner: 'b', epoch: 3 });
        expect(await one.register(CALL, none)).toEqual({ kind: 'mine', epoch: 4 });
      });
    });

    describe('with a call that is over', () => {
      it('says so to every claim but one that begins the conversation anew (G-7C, G-28)', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.save(CALL, saved('a', 1, 1));
        await one.forget(CALL, { owner: 'a', epoch: 1 });
        for (const change of [{}, { mayCreate: true }, { deadEpoch: 1 }, { mayCreate: true, isForced: true }]) {
          expect(await other.claim(CALL, request('b', change))).toEqual({ kind: 'ended' });
        }
        expect(await one.claim(CALL, request('a'))).toEqual({ kind: 'ended' });
        expect(await other.find(CALL)).toEqual({ kind: 'ended' });
        expect(await other.claim(CALL, request('b', { mayCreate: true, beginsAnew: true }))).toEqual({ kind: 'mine', epoch: 2 });
        expect(await other.claim(CALL, request('b'))).toEqual({ kind: 'mine', epoch: 2 });
      });

      it('fences a save behind the end', async () => {
        const { one } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await one.forget(CALL, { owner: 'a', epoch: 1 });
        expect(await one.save(CALL, saved('a', 1, 5))).toEqual({ kind: 'fenced' });
      });

      it('forgets it for nobody but its owner of that epoch', async () => {
        const { one, other } = create();
        await one.claim(CALL, request('a', { mayCreate: true }));
        await other.forget(CALL, { owner: 'b', epoch: 1 });
        await one.forget(CALL, { owner: 'a', epoch: 2 });
        expect(await other.find(CALL)).toEqual({ kind: 'theirs', owner: 'a', epoch: 1 });
      });
    });

    it('keeps calls of two organizations with the same conversation id apart', async () => {
      const { one } = create();
      await one.claim(CALL, request('a', { mayCreate: true }));
      expect(await one.find({ ...CALL, organizationId: 'other' })).toEqual({ kind: 'unknown' });
    });

    it(`gives a call to exactly one of ${String(CLAIMS_AT_ONCE)} that claim it at once, new, dead or released`, async () => {
      const { one, other } = create();
      const claimAll = (round: number, change: Partial<ClaimRequest>): Promise<readonly Claim[]> =>
        Promise.all(
          Array.from({ length: CLAIMS_AT_ONCE }, (_, index) =>
            (index % 2 === 0 ? one : other).claim(CALL, request(`${String(round)} ${String(index)}`, change)),
          ),
        );
      let owner = '';
      for (const [epoch, change] of [{ mayCreate: true }, { deadEpoch: 1 }, {}].entries()) {
        if (epoch === 2) await one.save(CALL, saved(owner, 2, 1, { isRelease: true }));
        const claims = await claimAll(epoch, change);
        const winner = claims.findIndex(({ kind }) => kind === 'mine');
        owner = `${String(epoch)} ${String(winner)}`;
        expect(claims[winner]).toMatchObject({ epoch: epoch + 1 });
        expect(claims.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
        const losers = claims.filter((_, index) => index !== winner);
        expect(losers.every((claim) => claim.kind === 'theirs' && claim.owner === owner && claim.epoch === epoch + 1)).toBe(true);
      }
    });
  });
}
