// The real engine with a recorder, and a folder that goes when the test is over.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Bot } from '../../src/bot/bot.ts';
import { readRecording, unsealed } from '../../src/recording/read-recording.ts';
import { FileWriter, type RecordingWriter } from '../../src/recording/file-writer.ts';
import { FolderRecorder, type FolderRecorderOptions } from '../../src/recording/recorder.ts';
import { RecordingFolder } from '../../src/recording/recording-folder.ts';
import type { RecordedEvent, Recording } from '../../src/recording/recording.ts';
import { recordingLog, testEngine, type LogLine, type TestEngine } from './engine.ts';
import { FakeClock } from './fake-clock.ts';

export const RECORDING_KEY = Buffer.alloc(32, 7);

export interface RecordingLab extends TestEngine {
  readonly recorder: FolderRecorder;
  readonly folder: RecordingFolder;
  readonly path: string;
  /** Of the recorder. */
  readonly lines: readonly LogLine[];
  /** What the recorder reported. */
  readonly told: string[];
  /** Ends all calls, writes everything, and returns the one recording. */
  recording(): Promise<Recording>;
  /** The one file. */
  file(): Buffer;
}

/** Writes at once, in this thread. */
export function writerHere(): RecordingWriter {
  const writer = new FileWriter(RECORDING_KEY);
  return { write: (batch) => Promise.resolve(batch.map((appended) => writer.append(appended))), close: () => Promise.resolve() };
}

/** A folder for this test. */
export function recordingsFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-recordings-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export async function recordingLab(
  bots: readonly Bot[],
  options: Parameters<typeof testEngine>[1] = {},
  recording: Partial<FolderRecorderOptions> = {},
): Promise<RecordingLab> {
  const { path: folderPath, clock } = { path: recording.folder ?? recordingsFolder(), clock: new FakeClock() };
  const [log, told]: [ReturnType<typeof recordingLog>, string[]] = [recordingLog(), []];
  const recorder = new FolderRecorder({
    choice: { share: 1, bots: [], organizations: [] },
    keeping: { maxCalls: 0, maxBytes: 0, maxAgeDays: 0 },
    ...{ folder: folderPath, key: RECORDING_KEY, parameters: [], maxCallBytes: 10_000_000, settings: {}, version: '1.0.0', clock, log },
    writer: writerHere(),
    observer: { recorded: (outcome) => told.push(outcome), lost: (loss) => told.push(`lost ${loss}`) },
    ...recording,
  });
  onTestFinished(() => recorder.close());
  const engine = await testEngine(bots, { clock, recorder, ...options });
  const folder = new RecordingFolder(folderPath, [RECORDING_KEY]);
  return {
    ...{ ...engine, recorder, folder, path: folderPath, lines: log.lines, told },
    recording: async () => {
      await engine.sessions.close(0);
      await recorder.close();
      const [kept] = await folder.list();
      const { bytes } = await folder.file(kept?.id ?? '');
      const made = readRecording(bytes, [RECORDING_KEY]);
      // Whatever a server records, others can read what was exported for everybody.
      expect(readRecording(unsealed(bytes, [RECORDING_KEY]), [])).toEqual(made);
      return made;
    },
    file: () => readFileSync(path.join(folderPath, readdirSync(folderPath)[0] ?? '')),
  };
}

/** The events of one kind. */
export function eventsOf<K extends RecordedEvent['kind']>({ events }: Recording, kind: K): readonly Extract<RecordedEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<RecordedEvent, { kind: K }> => event.kind === kind);
}
