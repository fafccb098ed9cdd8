import { describe, expect, it } from 'vitest';
import { readyLine, type Ready } from '../../../src/cli/serve/ready-line.ts';

const READY: Ready = {
  ...{
    address: '127.0.0.1:8086',
    port: 8086,
    security: 'TLS',
    bots: ['echo'],
    hasTokenCheck: true,
    opsPort: 8087,
    opsAddress: '127.0.0.1:8087',
  },
  ...{ dataSources: 0, isRegistering: false },
};

describe('the ready line', () => {
  it('counts the data sources that tokens may speak for', () => {
    expect(readyLine({ ...READY, dataSources: 2 })).toContain('  data sources 2  token check ON');
  });

  it('names the bots whose words nobody recognizes', () => {
    expect(readyLine({ ...READY, botsWithoutWords: ['front-desk', 'menu'] })).toContain(
      '  NO RECOGNIZER for the words of front-desk, menu',
    );
    expect(readyLine(READY)).not.toContain('RECOGNIZER');
  });

  it('says where calls come in over WebSocket, too', () => {
    const websocket = { address: '127.0.0.1:8087', port: 8087, security: 'plaintext' } as const;
    expect(readyLine({ ...READY, websocket })).toMatch(/ {2}operations port 8087 {2}WebSocket 127\.0\.0\.1:8087 plaintext$/u);
  });

  it('says that none are there yet where the administration registers them', () => {
    expect(readyLine({ ...READY, isRegistering: true })).toContain('  data sources 0 and each that an organization authorizes  ');
  });
});
