import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { callsGroup } from '../../../src/cli/calls.ts';
import { readRecording } from '../../../src/recording/read-recording.ts';
import { readWavLayout } from '../../../src/speech/wav.ts';
import { runCommand, type AdminEnd } from '../../support/admin-command.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { RECORDING_KEY, recordingLab, recordingsFolder } from '../../support/recording-lab.ts';

const clerk = bot<null>({
  id: 'clerk',
  name: 'Clerk',
  version: 2,
  session_start: () => go(null, say('Which number?').listen({ digits: 4 })),
  otherwise: () => go(null, say('Your PIN?').listen({ sensitive: true })),
});

async function recorded(): Promise<{
  readonly id: string;
  readonly run: (...argv: readonly string[]) => Promise<AdminEnd>;
  readonly path: string;
}> {
  const lab = await recordingLab([clerk]);
  const call = new MemoryCall(lab.sessions);
  await call.start();
  lab.clock.advance(4000);
  await call.press('1234');
  await call.press('9876');
  await call.hangUp();
  const { header } = await lab.recording();
  const flags = [`--recordings.folder=${lab.path}`, `--recordings.keys=["${RECORDING_KEY.toString('hex')}"]`];
  const nobody = { isThere: false, openBrowser: () => Promise.resolve(), confirms: () => Promise.resolve(false) };
  const person = { ...nobody, asksFor: () => Promise.resolve(''), readInput: () => Promise.resolve('') };
  return { id: header.id, path: lab.path, run: (...argv) => runCommand(callsGroup(person), [...argv, ...flags]) };
}

describe('parley calls', () => {
  it('list: shows the calls of the folder, and opens none', async () => {
    const { id, run } = await recorded();
    const { out, err, code } = await run('list');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      new RegExp(`^RECORDING +BEGAN +LENGTH +BOT +TURNS +END +SIZE +CONVERSATION\n${id} .*4\\.0 s +clerk +4 +caller .*call-1`, 'u'),
    );
    expect(JSON.parse((await run('list', '--json')).out)).toMatchObject([
      { id, agentId: 'clerk', durationMs: 4000, turns: 4, end: 'caller' },
    ]);
  });

  it('show: prints a call turn by turn, without what is withheld, and says who opened it', async () => {
    const { id, run } = await recorded();
    const { out, err } = await run('show', 'call-1');
    expect(out).toContain('bot clerk version 2, organization org, grpc');
    expect(out).toMatch(
      /turn 2 {2}replied\n +4\.00 s {2}caller {2}keys 1234\n +4\.00 s {2}bot {5}\[withheld\]\n.* then {4}listen both, sensitive/u,
    );
    expect(out).toContain('keys [withheld]');
    expect(out).not.toContain('9876');
    expect(JSON.parse(err)).toMatchObject({ event: 'recording_opened', purpose: 'show', recording: id, conversationId: 'call-1' });
    expect(JSON.parse((await run('show', id, '--json')).out)).toMatchObject({ form: 1, turns: [{ number: 1 }, {}, {}, {}] });
  });

  it('listen: writes the caller left and the bot right', async () => {
    const { run } = await recorded();
    const file = path.join(recordingsFolder(), 'call.wav');
    const { out } = await run('listen', 'call-1', '--out', file);
    expect(out).toContain('4.0 s');
    expect(readWavLayout(readFileSync(file))).toMatchObject({ channels: 2, sampleRateHz: 8000 });
  });

  it('export: writes the sealed file, one that everybody opens, and one that is read like one of the folder', async () => {
    const { id, run } = await recorded();
    const folder = recordingsFolder();
    const [sealed, open] = [path.join(folder, 'sealed.parley-call'), path.join(folder, 'open.parley-call')];
    await run('export', id, '--to', sealed);
    expect(() => readRecording(readFileSync(sealed), [])).toThrow('recording cannot be read');
    expect(readRecording(readFileSync(sealed), [RECORDING_KEY]).header.id).toBe(id);
    await run('export', id, '--unsealed', '--to', open);
    expect(readRecording(readFileSync(open), []).header.id).toBe(id);
    expect((await run('show', open)).out).toContain('turn 2');
  });

  it('delete: asks for --yes where nobody is there, and then deletes', async () => {
    const { id, run } = await recorded();
    expect(await run('delete', id)).toMatchObject({ code: 2 });
    const { out, err } = await run('delete', id, '--yes');
    expect(out).toBe(`deleted  ${id}\n`);
    expect(JSON.parse(err)).toMatchObject({ event: 'recording_deleted', recording: id });
    expect((await run('list')).out).toContain('no recordings in');
  });

  it('says what is wrong with an unknown call, another file and a missing key', async () => {
    const { run, path: folder } = await recorded();
    expect(await run('show', 'nothing')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the folder has none with this id') as string,
    });
    const other = path.join(folder, 'other.parley-call');
    writeFileSync(other, 'something else');
    expect((await run('show', other)).err).toContain('it has another form');
    expect((await run('show')).code).toBe(2);
  });
});
