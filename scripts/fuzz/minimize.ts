// Makes the input of a finding smaller, as long as it leads to the same.

/**
 * Leaves out parts of an input, large ones first, while `isStillWrong` holds.
 *
 * @param most - how often it is asked.
 */
export async function minimized(input: Buffer, isStillWrong: (smaller: Buffer) => Promise<boolean>, most = 200): Promise<Buffer> {
  let [smallest, asked] = [input, 0];
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < smallest.length && asked < most;) {
      const smaller = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      asked += 1;
      if (await isStillWrong(smaller)) smallest = smaller;
      else at += size;
    }
  }
  return smallest;
}
