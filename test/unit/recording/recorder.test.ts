import { readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import type { RecordingWriter } from '../../../src/recording/file-writer.ts';
import { isChosen } from '../../../src/recording/recorder.ts';
import { RecordingFolder } from '../../../src/recording/recording-folder.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { eventsOf, RECORDING_KEY, recordingLab, recordingsFolder, writerHere, type RecordingLab } from '../../support/recording-lab.ts';
import { until } from '../../support/until.ts';

const listen = () => go(null, say('Yes?').listen());
const parrot = bot<null>({ id: 'parrot', name: 'Parrot', version: 1, session_start: listen, otherwise: listen });
const frames = (count: number): readonly Input[] =>
  Array.from({ length: count }, () => ({ kind: 'audio', audio: new Uint8Array(160).fill(0xff) }));

/** Lets time pass, so slowly that no call is given up, until two recordings are left: a check of the folder is left out while one runs. */
async function untilTidied({ clock, path: folder }: RecordingLab): Promise<void> {
  await until('the oldest is gone', () => {
    clock.advance(2000);
    return readdirSync(folder).length === 2;
  });
}

describe('a recorder whose disk fails', () => {
  it('loses recordings, says so once a minute, and goes on when there is room again; calls do not notice', async () => {
    let isFull = true;
    const disk = writerHere();
    const write: RecordingWriter['write'] = (batch) => (isFull ? Promise.resolve(batch.map(() => 'ENOSPC')) : disk.write(batch));
    const lab = await recordingLab([parrot], {}, { writer: { ...disk, write } });
    for (const conversationId of ['one', 'two']) {
      const call = new MemoryCall(lab.sessions, { conversationId });
      expect((await call.start()).texts).toEqual(['Yes?']);
      await lab.recorder.written();
      expect((await call.press('1')).texts).toEqual(['Yes?']);
      await call.hangUp();
    }
    await lab.recorder.written();
    expect(lab.told).toEqual(['lost disk', 'cut', 'lost disk', 'cut']);
    expect(lab.lines).toMatchObject([{ level: 'warn', event: 'recordings_lost', reason: 'disk', code: 'ENOSPC' }]);
    lab.clock.advance(60_001);
    await new MemoryCall(lab.sessions, { conversationId: 'three' }).start();
    await lab.recorder.written();
    expect(lab.lines.filter(({ event }) => event === 'recordings_lost')).toHaveLength(2);
    isFull = false;
    const last = new MemoryCall(lab.sessions, { conversationId: 'four' });
    await last.start();
    await last.hangUp();
    expect((await lab.recording()).header.call.conversationId).toBe('four');
  });

  it('keeps bounded memory when the disk hangs', async () => {
    let release: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = 0;
    const write = (): Promise<readonly undefined[]> => {
      begun += 1;
      return hanging.then(() => []);
    };
    const writer = { ...writerHere(), write };
    const lab = await recordingLab([parrot], {}, { writer, maxCallBytes: 1_000_000_000 });
    const call = new MemoryCall(lab.sessions);
    await call.start();
    lab.clock.advance(1000);
    await until('the disk hangs', () => begun === 1);
    const { turn } = await call.open();
    const large: Input = { kind: 'audio', audio: new Uint8Array(60_000) };
    for (let count = 0; count < 1000; count += 1) turn.push(large);
    expect(lab.told).toEqual(['lost slow_disk', 'cut']);
    expect(lab.lines).toMatchObject([{ reason: 'slow_disk' }]);
    release();
  });

  it('does not write a recording again that was deleted meanwhile', async () => {
    const lab = await recordingLab([parrot]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    await lab.recorder.written();
    for (const name of readdirSync(lab.path)) rmSync(path.join(lab.path, name));
    await call.hangUp();
    await lab.recorder.written();
    expect(readdirSync(lab.path)).toEqual([]);
    // Nothing is wrong with the disk.
    expect(lab.told).not.toContain('lost disk');
    expect(lab.lines).toEqual([]);
  });
});

describe('the choice of calls', () => {
  const all = { share: 1, bots: [], organizations: [] };
  const call = (conversationId: string) => ({ conversationId, organizationId: 'org', agentId: 'clerk', startedAtMs: 0 });

  it('takes a share, the same calls in every process', () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `call-${String(index)}`);
    const chosen = ids.filter((id) => isChosen({ ...all, share: 0.25 }, call(id)));
    expect(chosen.length).toBeGreaterThan(400);
    expect(chosen.length).toBeLessThan(600);
    expect(ids.filter((id) => isChosen({ ...all, share: 0.5 }, call(id)))).toEqual(expect.arrayContaining(chosen));
    expect(ids.some((id) => isChosen({ ...all, share: 0 }, call(id)))).toBe(false);
  });

  it('names bots and organizations', () => {
    expect(isChosen({ ...all, bots: ['clerk'] }, call('a'))).toBe(true);
    expect(isChosen({ ...all, bots: ['other'] }, call('a'))).toBe(false);
    expect(isChosen({ ...all, organizations: ['org'] }, call('a'))).toBe(true);
    expect(isChosen({ ...all, organizations: ['other'] }, call('a'))).toBe(false);
  });

  it('leaves no trace of a call that is not recorded', async () => {
    const lab = await recordingLab([parrot], {}, { choice: { ...all, bots: ['other'] } });
    await new MemoryCall(lab.sessions).start();
    await lab.sessions.close(0);
    await lab.recorder.close();
    expect([readdirSync(lab.path), lab.told]).toEqual([[], []]);
  });
});

describe('the folder of recordings', () => {
  const NOW_MS = Date.UTC(2026, 10, 28);
  const NO_LIMITS = { maxCalls: 0, maxBytes: 0, maxAgeDays: 0 };
  const names = ['20261125T000000-00000001', '20261126T000000-00000002', '20261127T000000-00000003'];

  function filled(): { readonly folder: RecordingFolder; readonly left: () => readonly string[] } {
    const at = recordingsFolder();
    for (const [index, name] of names.entries()) {
      const file = path.join(at, `${name}.parley-call`);
      writeFileSync(file, '');
      truncateSync(file, 1000);
      const dayS = NOW_MS / 1000 - (3 - index) * 86_400;
      utimesSync(file, dayS, dayS);
    }
    writeFileSync(path.join(at, 'notes.txt'), 'of somebody else');
    return {
      folder: new RecordingFolder(at, [RECORDING_KEY]),
      left: () => readdirSync(at).map((name) => name.replace('.parley-call', '')),
    };
  }

  it.each([
    ['the number', { maxCalls: 2 }, 2],
    ['the bytes', { maxBytes: 2500 }, 2],
    ['the age', { maxAgeDays: 2 }, 2],
    ['no limit', {}, 3],
  ])('keeps the newest recordings by %s, and what is not its own', async (_, keeping, count) => {
    const { folder, left } = filled();
    await folder.tidy({ ...NO_LIMITS, ...keeping }, NOW_MS);
    expect(left()).toEqual([...names.slice(-count), 'notes.txt']);
  });

  it('keeps the recording of a call that begins while the folder is read', async () => {
    const { folder, left } = filled();
    const begun: string[] = [];
    const tidied = folder.tidy({ ...NO_LIMITS, maxCalls: 1 }, NOW_MS, () => begun);
    begun.push(...names.slice(0, 1));
    await tidied;
    expect(left()).toEqual([names[0], names[2], 'notes.txt']);
  });

  it('is tidied while calls go on', async () => {
    const lab = await recordingLab([parrot], {}, { keeping: { ...NO_LIMITS, maxCalls: 2 } });
    for (const conversationId of ['one', 'two', 'three']) {
      const call = new MemoryCall(lab.sessions, { conversationId });
      await call.start();
      await call.hangUp();
      lab.clock.advance(2000);
    }
    await until('the calls are over', () => lab.told.length === 3);
    await lab.recorder.written();
    await untilTidied(lab);
    expect((await lab.folder.list()).map(({ header }) => header?.call.conversationId)).toEqual(['three', 'two']);
  });

  it('keeps the recordings of calls that go on, however few may be kept', async () => {
    const lab = await recordingLab([parrot], {}, { keeping: { ...NO_LIMITS, maxCalls: 1 } });
    const [first, second] = [1, 2].map((number) => new MemoryCall(lab.sessions, { conversationId: `call-${String(number)}` }));
    await first?.start();
    lab.clock.advance(2000);
    await second?.start();
    await second?.hangUp();
    await until('the second call is over', () => lab.told.length === 1);
    await lab.recorder.written();
    writeFileSync(path.join(lab.path, '20200101T000000-00000001.parley-call'), 'old');
    await untilTidied(lab);
    await first?.hangUp();
    await until('the first call is over', () => lab.told.length === 2);
    await lab.recorder.written();
    expect((await lab.folder.list()).map(({ summary }) => summary?.end)).toEqual(['caller', 'caller']);
  });

  it('lists calls with their ends, finds them by conversation, and deletes them', async () => {
    const lab = await recordingLab([parrot]);
    const call = new MemoryCall(lab.sessions);
    await call.start();
    lab.clock.advance(3000);
    await call.turn(...frames(10));
    await call.hangUp();
    const recording = await lab.recording();
    const [kept] = await lab.folder.list();
    expect(kept).toMatchObject({ id: recording.header.id, summary: { end: 'caller', durationMs: 3000, turns: 3 } });
    expect(eventsOf(await lab.folder.read('call-1'), 'audio')).toHaveLength(10);
    expect(await lab.folder.delete('call-1')).toBe(recording.header.id);
    await expect(lab.folder.delete('call-1')).rejects.toMatchObject({ code: 'recording_unreadable' });
    expect(await new RecordingFolder('/nowhere', [RECORDING_KEY]).list()).toEqual([]);
  });

  it('finds the call of one organization where several have its conversation id, and names them to those who know none', async () => {
    const lab = await recordingLab([parrot]);
    for (const organizationId of ['one', 'two']) {
      const call = new MemoryCall(lab.sessions, { organizationId });
      await call.start();
      await call.hangUp();
      lab.clock.advance(2000);
    }
    await lab.recorder.written();
    const call = { startedAtMs: lab.clock.nowMs(), durationMs: 0 };
    const [two, one] = (await lab.folder.list()).map(({ id }) => id);
    expect((await lab.folder.read('call-1', { organizationId: 'one', ...call })).header.id).toBe(one);
    await expect(lab.folder.find('call-1', { organizationId: 'three', ...call })).rejects.toMatchObject({ code: 'recording_unreadable' });
    await expect(lab.folder.find('call-1')).rejects.toThrow(`name one of ${String(two)}, ${String(one)}`);
  });

  it('looks for a call among the recordings of its time alone', async () => {
    const lab = await recordingLab([parrot]);
    const startedAtMs = lab.clock.nowMs();
    lab.clock.advance(50_000);
    await new MemoryCall(lab.sessions).start();
    const { header } = await lab.recording();
    const find = (atMs: number, durationMs: number): Promise<string> =>
      lab.folder.find('call-1', { organizationId: 'org', startedAtMs: atMs, durationMs });
    expect(await find(startedAtMs, 0)).toBe(header.id);
    // It may be a later part of a call that moved.
    expect(await find(startedAtMs - 900_000, 900_000)).toBe(header.id);
    for (const [atMs, durationMs] of [
      [startedAtMs - 900_000, 1000],
      [startedAtMs + 900_000, 1000],
    ] as const)
      await expect(find(atMs, durationMs)).rejects.toMatchObject({ code: 'recording_unreadable' });
  });

  it('lists what another key has sealed without its call', async () => {
    const lab = await recordingLab([parrot]);
    await new MemoryCall(lab.sessions).start();
    await lab.recording();
    const [kept] = await new RecordingFolder(lab.path, [Buffer.alloc(32, 1)]).list();
    expect(kept).toMatchObject({ header: undefined, summary: undefined });
  });
});
