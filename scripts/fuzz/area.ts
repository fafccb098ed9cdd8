// What is fuzzed: an area has inputs, a way to change them, and one or two ways to try them. Knows no area.

/** What an input led to. */
export interface Reaction {
  /** One of few texts, such as a status or an error code: an input with a new one is worth keeping. */
  readonly outcome: string;
  /** What must never be, in the same words for the same fault; undefined when all is well. */
  readonly wrong?: string;
}

export interface Area {
  /** Names its folder in the corpus. */
  readonly name: string;
  /** Inputs to begin with, beside the corpus. */
  readonly seeds: readonly Buffer[];
  /** @param other - another input of the area. */
  readonly mutate: (input: Buffer, random: () => number, other: Buffer) => Buffer;
  /** Reads an input in this process, where coverage guides. What it throws is a finding. */
  readonly read?: (input: Buffer) => Reaction | Promise<Reaction>;
  /** Sends an input to a server over real sockets. */
  readonly send?: (input: Buffer) => Promise<Reaction>;
  /** Inputs that are sent at once; default 8. */
  readonly lanes?: number;
  /** Something else that goes on beside the inputs, until `isOver`. @returns what was wrong with it. */
  readonly besides?: (isOver: () => boolean) => Promise<readonly string[]>;
  readonly close?: () => Promise<void>;
}

/** Something that must never be, with the input that leads to it. */
export interface Finding {
  readonly area: string;
  readonly wrong: string;
  readonly input: Buffer;
}

/** The reaction of code that may throw: an error that the code means is an outcome, any other one is wrong. */
export async function reactionOf(
  work: () => string | Promise<string>,
  isMeant: (thrown: unknown) => string | undefined,
): Promise<Reaction> {
  try {
    return { outcome: await work() };
  } catch (thrown) {
    const meant = isMeant(thrown);
    if (meant !== undefined) return { outcome: meant };
    return { outcome: 'threw', wrong: `threw ${originOf(thrown)}` };
  }
}

/** Kind and place of an error, without its message, which may repeat the input. */
export function originOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const frame = thrown.stack?.split('\n').find((line) => line.startsWith('    at ') && /\/(?:src|scripts)\//u.test(line));
  return `${thrown.name}${frame === undefined ? '' : ` at ${frame.replace(/.*\/(?=(?:src|scripts)\/)/u, '').replace(')', '')}`}`;
}
