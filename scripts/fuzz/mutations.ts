// Inputs that are wrong in some places: bytes, texts and lists of parts, drawn from a seeded source.

/** One of a list. */
export function drawn<Item>(items: readonly Item[], random: () => number): Item | undefined {
  return items[Math.floor(random() * items.length)];
}

/** Largest input, bytes: a parser that needs more to break is slow and not wrong. */
const MAX_BYTES = 70_000;

/** Some bytes changed, left out, put in, repeated, or the end of another input in place of its own. */
export function mutated(bytes: Buffer, random: () => number, other: Buffer = bytes): Buffer {
  let changed = Buffer.from(bytes);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times -= 1) {
    const at = Math.floor(random() * (changed.length + 1));
    const kind = Math.floor(random() * 7);
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)];
    if (kind === 0) changed = Buffer.concat([before, after.subarray(1)]);
    else if (kind === 1) changed = Buffer.concat([before, Buffer.of(Math.floor(random() * 256)), after]);
    else if (kind === 2) changed = Buffer.concat([before, after, after]);
    else if (kind === 3) changed = Buffer.from(before);
    else if (kind === 6) changed = Buffer.concat([before, other.subarray(Math.floor(random() * other.length))]);
    else if (kind === 4) changed = Buffer.concat([before, Buffer.alloc(Math.floor(random() * 2000), Math.floor(random() * 256)), after]);
    else if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return changed.subarray(0, MAX_BYTES);
}

/** Parts left out, repeated, in another place, from another input, or changed. */
export function mutatedParts(
  parts: readonly Buffer[],
  random: () => number,
  others: readonly Buffer[],
  change: (part: Buffer) => Buffer,
): readonly Buffer[] {
  const changed = [...parts];
  for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) {
    const at = Math.floor(random() * changed.length);
    const part = changed[at] ?? Buffer.alloc(0);
    const kind = Math.floor(random() * 6);
    if (kind === 0) changed.splice(at, 1);
    else if (kind === 1) changed.splice(at, 0, part);
    else if (kind === 2) changed.push(...changed.splice(at, 1));
    else if (kind === 3) changed.splice(at, 0, drawn(others, random) ?? part);
    else changed[at] = change(part);
  }
  return changed.slice(0, 200);
}

/** Values that stand where others should. */
const ODD = [
  ...['null', '-1', '0', '0.5', '1e400', '-0', '""', '[]', '{}', '"\\u0000"', '"\\ud800"', 'true', '"true"', '99999999999999999999'],
  ...[
    '[[[[[[[[[[{}]]]]]]]]]]',
    '{"__proto__":{"a":1}}',
    '{"constructor":1}',
    `"${'x'.repeat(5000)}"`,
    `${'['.repeat(1000)}${']'.repeat(1000)}`,
  ],
];

/** A text of JSON or YAML with another value in it, with another letter, or broken off. */
export function mutatedText(text: string, random: () => number): string {
  const at = Math.floor(random() * text.length);
  const odd = drawn(ODD, random) ?? '';
  switch (Math.floor(random() * 5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 0xffff)) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + odd + text.slice(at);
    case 3:
      return text.replace(/:"[^"]*"/u, `:${odd}`);
    default: {
      const value = drawn([...text.matchAll(/: ?("[^"]*"|[^\s",[\]{}]+)/gu)], random);
      return value === undefined ? text : `${text.slice(0, value.index)}: ${odd}${text.slice(value.index + value[0].length)}`;
    }
  }
}
