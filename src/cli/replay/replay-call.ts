// Replays the call of one file, and compares it with the recording.
import { loadSignalEngines } from '../../app/signal-engines.ts';
import { AppError } from '../../base/errors.ts';
import { createLogger } from '../../base/log.ts';
import { readBounded } from '../../base/terminal/surroundings.ts';
import type { Bot } from '../../bot/bot.ts';
import { differences, wholeTurns, type Difference, type Tolerance } from '../../recording/replay/differences.ts';
import { turnsOf } from '../../recording/replay/recorded-turns.ts';
import { replay, type ReplayOptions } from '../../recording/replay/replay.ts';
import type { RecordingKeys } from '../../recording/sealed-file.ts';
import { Listener } from '../../speech/listener.ts';
import { openedRecording, type Complain } from '../opened-recording.ts';
import { recordedSettings } from './recorded-settings.ts';

export interface CallReplayOptions extends Pick<ReplayOptions, 'models'>, Tolerance {
  readonly bots: readonly Bot[];
  readonly keys: RecordingKeys;
  readonly complain: Complain;
}

/** The result for one file. */
export type ReplayResult =
  | {
      readonly file: string;
      readonly conversationId: string;
      readonly bot: string;
      readonly turns: number;
      /** Turns whose answers the recording keeps whole. Of other turns, only the next step is compared. */
      readonly compared: number;
      /** Differences from the recording, in order. */
      readonly differences: readonly ShownDifference[];
      /** Set when turns differ after digits or words that are not kept: the first such turn. These differences do not count. */
      readonly uncertainFrom?: number;
      /** Set when one of these differences is a different next step: the first such difference. */
      readonly uncertainNext?: ShownDifference;
    }
  | { readonly file: string; readonly error: string; readonly code: string };

export type ShownDifference = Omit<Difference, 'isAfterWithheld'> & {
  /** Set when the caller did something in this turn: its kind and text. */
  readonly input?: string;
  /** Set when the current bot failed in this turn: why. */
  readonly failure?: string;
};

/** @throws RangeError for a file that cannot be read. */
export async function replayFile(file: string, { bots, keys, complain, models, ...tolerance }: CallReplayOptions): Promise<ReplayResult> {
  const bytes = await readBounded(file);
  try {
    const recording = openedRecording(bytes, keys, 'replay', complain);
    const settings = recordedSettings(recording);
    const engines = await loadSignalEngines();
    const today = await replay(recording, {
      ...{ bots, settings, models, log: createLogger({ level: 'silent' }) },
      createListener: (given) => new Listener({ engines, patience: settings.patience, ...given }),
    });
    const turns = turnsOf(recording.events);
    const found = differences(recording.events, today, tolerance);
    const uncertain = found.filter(({ isAfterWithheld }) => isAfterWithheld === true);
    const next = uncertain.find(({ what, at }) => what === 'next' && at === 'kind');
    const { conversationId, agentId: bot } = recording.header.call;
    return {
      ...{ file, conversationId, bot, turns: turns.length, compared: wholeTurns(recording.events) },
      differences: found.filter(({ isAfterWithheld }) => isAfterWithheld !== true).map((difference) => shown(difference)),
      ...(uncertain[0] !== undefined && { uncertainFrom: uncertain[0].turn }),
      ...(next !== undefined && { uncertainNext: shown(next) }),
    };

    function shown(difference: Difference): ShownDifference {
      const turn = turns[difference.turn - 1];
      const failed = today.find((event) => event.kind === 'fact' && event.turn === turn?.id);
      const failure = failed?.kind === 'fact' ? failed.details['message'] : undefined;
      const { kind, text = '' } = turn?.input ?? {};
      return {
        ...difference,
        ...(kind !== undefined && { input: `${kind} ${text}`.trim() }),
        ...(typeof failure === 'string' && { failure }),
      };
    }
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return { file, error: thrown.message, code: thrown.code };
  }
}
