// `parley test --from`: writes a recorded call as a scenario, ready to edit.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Document, isMap, isSeq } from 'yaml';
import { readBounded } from '../base/terminal/surroundings.ts';
import type { Recording } from '../recording/recording.ts';
import { scenarioOf, type RecordedScenario } from '../recording/scenario/scenario-of.ts';
import { encodeMulaw } from '../speech/g711.ts';
import { mulawWav } from '../speech/wav.ts';
import type { WriteScenario } from '../fake-platform/cli/test.ts';
import { openedRecording } from './opened-recording.ts';
import { recordingKeys } from './replay/recording-keys.ts';

const HEAD = ` yaml-language-server: $schema=docs/scenario.schema.json
 From a recorded call: what the caller did, and what was heard. Leave out what need not be so.`;

/**
 * Writes the scenario, and beside it a WAV file for each utterance whose words the recording lacks.
 * @throws RangeError when the recording cannot be read, or a file is there already; AppError `recording_unreadable`.
 */
export const writeScenario: WriteScenario = async (from, { out, config, force }, complain) => {
  const keys = recordingKeys(config === undefined ? undefined : [`--config=${config}`]);
  const recording = openedRecording(await readBounded(from), keys, 'scenario', complain);
  const file = out ?? `${path.parse(from).name}.yaml`;
  const { text, sounds } = scenarioText(recording, path.parse(file).name);
  const files = new Map<string, string | Uint8Array>([[file, text]]);
  for (const [name, samples] of sounds) files.set(path.join(path.dirname(file), name), mulawWav(encodeMulaw(samples)));
  const taken = [...files.keys()].find((name) => force !== true && existsSync(name));
  if (taken !== undefined) throw new RangeError(`${taken} exists; give another --out, or --force to replace it`);
  for (const [name, content] of files) await writeFile(name, content, { mode: 0o600 });
  return [...files.keys()];
};

/** The scenario as YAML. @param name - begins the names of the WAV files. */
export function scenarioText(recording: Recording, name: string): { readonly text: string } & Pick<RecordedScenario, 'sounds'> {
  const { file, notes, sounds } = scenarioOf(recording, name);
  const document = new Document(file);
  document.commentBefore = HEAD;
  const steps = document.getIn(['tests', 0, 'steps']);
  if (isSeq(steps))
    for (const [index, step] of steps.items.entries()) {
      const note = notes.get(index);
      if (note !== undefined && isMap(step)) step.commentBefore = note;
    }
  return { text: document.toString({ lineWidth: 140 }), sounds };
}
