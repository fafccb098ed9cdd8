// The settings of recordings, as part of the schema.
import { sealKey } from './ops-schema.ts';
import { flag, integer, list, number, path, word } from './rules.ts';

const MIB = 1_048_576;

export const RECORDINGS = {
  enabled: flag(),
  folder: path(),
  keys: list(sealKey, 5),
  share: number(0, 1),
  bots: list(word(200), 1000),
  organizations: list(word(512), 10_000),
  parameters: list(word(200), 1000),
  max_calls: integer(0, 10_000_000),
  max_age_days: integer(0, 36_500),
  max_bytes: integer(0, 1_048_576 * MIB),
  max_call_bytes: integer(MIB, 1024 * MIB),
} as const;
