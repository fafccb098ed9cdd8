// Messages that are wrong in some places: bytes and texts, drawn from a seeded source.

/** Some bytes changed, left out, put in or repeated. */
export function mutated(bytes: Buffer, random: () => number): Buffer {
  let changed = Buffer.from(bytes);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times -= 1) {
    const at = Math.floor(random() * (changed.length + 1));
    const kind = Math.floor(random() * 6);
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)];
    if (kind === 0) changed = Buffer.concat([before, after.subarray(1)]);
    else if (kind === 1) changed = Buffer.concat([before, Buffer.of(Math.floor(random() * 256)), after]);
    else if (kind === 2) changed = Buffer.concat([before, after, after]);
    else if (kind === 3) changed = Buffer.from(before);
    else if (kind === 4) changed = Buffer.concat([before, Buffer.alloc(Math.floor(random() * 2000), Math.floor(random() * 256)), after]);
    else if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return changed;
}

/** Values that stand where others should. */
const ODD = ['null', '-1', '1e400', '""', '[]', '{}', '"\\u0000"', '"\\ud800"', 'true', '99999999999999999999', `"${'x'.repeat(5000)}"`];

/** A text of JSON with another value in it, with another letter, or broken off. */
export function mutatedText(text: string, random: () => number): string {
  const at = Math.floor(random() * text.length);
  const odd = ODD[Math.floor(random() * ODD.length)] ?? '';
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
      const values = [...text.matchAll(/:("[^"]*"|\d+|true|false)/gu)];
      const value = values[Math.floor(random() * values.length)];
      return value === undefined ? text : `${text.slice(0, value.index)}:${odd}${text.slice(value.index + value[0].length)}`;
    }
  }
}
