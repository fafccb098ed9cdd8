// How Node runs a server, wherever it is started.
import { describe, expect, it } from 'vitest';
import { SERVER_FLAGS } from '../../src/app/workers/node-flags.ts';
import { filesUnder } from '../support/source-tree.ts';

const PLAIN = ['deploy/systemd/parley@.service', 'docs/deploy.md'];
const QUOTED = ['Dockerfile', 'template/Dockerfile'];

describe('a server', () => {
  it.each([
    ...PLAIN.map((file) => [file, SERVER_FLAGS.join(' ')] as const),
    ...QUOTED.map((file) => [file, SERVER_FLAGS.map((flag) => `"${flag}"`).join(', ')] as const),
  ])('is started by %s as workers are', (file, flags) => {
    expect(filesUnder([file]).map(({ text }) => text)).toEqual([expect.stringMatching(new RegExp(`node"?,? ${flags}(?!,? "?--)`, 'u'))]);
  });
});
