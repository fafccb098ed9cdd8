// How an object of a scenario file is declared: it may have only its own fields, and the message about another one
// lists them. Knows no field.
import { z } from 'zod';

/** An object with these fields and no others. */
export function fields<Shape extends z.ZodRawShape>(what: string, shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys')
        return `unknown field ${issue.keys.map((key) => `"${key}"`).join(', ')}; ${what} has ${Object.keys(shape).join(', ')}`;
      return `${what} must be written as fields: ${Object.keys(shape).join(', ')}`;
    },
  });
}

/** A whole number of milliseconds. */
export function milliseconds(description: string, least = 0, most = 3_600_000): z.ZodNumber {
  return z
    .number({ error: 'give whole milliseconds' })
    .int({ error: 'give whole milliseconds' })
    .min(least, { error: `give at least ${String(least)} ms` })
    .max(most, { error: `give at most ${String(most)} ms` })
    .describe(description);
}

/** A text that is not empty. */
export function words(description: string, most = 2000): z.ZodString {
  return z
    .string({ error: 'write a text; one that looks like a number goes in quotes' })
    .min(1, { error: 'the text is empty' })
    .max(most, { error: `at most ${String(most)} characters` })
    .describe(description);
}

/** One of some words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  description: string,
  ...choices: Words
): z.ZodEnum<{ [Word in Words[number]]: Word }> {
  return z.enum(choices, { error: `write one of ${choices.join(', ')}` }).describe(description);
}
