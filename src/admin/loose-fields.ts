// Lenient fields of records: the platform's documented form, and variations that were seen. An invalid field counts as absent,
// because a record must not be refused for a field that nobody needs.
import { z } from 'zod';

/** Longest text of a field, characters: tokens are the longest texts. */
const MAX_CHARS = 16_384;

const text = z.string().min(1).max(MAX_CHARS);

/** A text; absent when empty or of another type. */
export const looseText = text.optional().catch(undefined);

/** A text, or a list of exactly one text. */
export const looseSingle = z
  .union([text, z.tuple([text]).transform(([only]) => only)])
  .optional()
  .catch(undefined);

/** A whole number above zero, also written as text. */
export const looseCount = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,6}$/u)
      .transform(Number),
  ])
  .pipe(z.int().positive().max(1_000_000))
  .optional()
  .catch(undefined);

/** A word in lower case, because the case of statuses varies. */
export const looseWord = text
  .transform((word) => word.toLowerCase())
  .optional()
  .catch(undefined);

/** An ISO time, as ms since the epoch. */
export const looseTime = text
  .transform((iso) => (/^\d{4}-\d{2}-\d{2}T/u.test(iso) ? Date.parse(iso) : NaN))
  .pipe(z.number().refine(Number.isFinite))
  .optional()
  .catch(undefined);
