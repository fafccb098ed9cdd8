// Checks of the upgrade: paths, and who may connect.
import type { Check } from '../../check.ts';
import { demandRefused, malformedTokens, oddTokens } from '../../checks/tokens.ts';
import type { Handshake } from '../probe-socket.ts';
import type { SocketLab } from '../socket-probe.ts';

function statusOf(handshake: Handshake): number | undefined {
  return handshake.kind === 'refused' ? handshake.status : handshake.kind === 'open' ? 101 : undefined;
}

/** The skew that a server may allow, how much of it is left when a call begins, and how long to watch it beyond that, s (J-04, J-16). */
const [SKEW_S, SKEW_LEFT_S, WATCHED_S] = [30, 4, 2];

export const UPGRADE_CHECKS: readonly Check<SocketLab>[] = [
  {
    id: 'both-channels-served',
    rules: ['W-01', 'W-05'],
    title: 'The voice channel and the list channel are there.',
    needs: [],
    run: async (lab) => {
      for (const channel of ['voice', 'list'] as const) {
        const socket = lab.probe.connect(channel);
        const status = statusOf(await socket.upgraded());
        await socket.close();
        if (status === 401) lab.skip('the server lets nobody see its channels without a good token');
        if (status !== 101) lab.fail(`the ${channel} channel ${socket.stateText}`);
      }
    },
  },
  {
    id: 'no-token-no-upgrade',
    rules: ['W-06', 'J-21'],
    title: 'Without a token the upgrade is answered with HTTP 401, on both channels.',
    needs: ['token_check'],
    run: async (lab) => {
      await demandRefused(lab, { 'a socket without a token': null });
      // That the list alone needs no token is the same rule here.
      if (lab.suspect.wantsToken && !lab.suspect.listWantsToken) lab.fail('the agents were listed without a token');
    },
  },
  {
    id: 'bare-token-refused',
    rules: ['W-06', 'W-05'],
    title: 'A token without “Bearer” before it is refused.',
    // The newest guide rejects it, and the newest gateway accepts it.
    level: 'advice',
    needs: ['token_check', 'token'],
    run: (lab) => demandRefused(lab, { 'the good token without Bearer': lab.suspect.token ?? '' }),
  },
  {
    id: 'malformed-token-no-upgrade',
    rules: ['J-21', 'W-06'],
    title: 'An empty token and one without exactly three parts are refused.',
    needs: ['token_check'],
    run: (lab) => demandRefused(lab, malformedTokens(lab)),
  },
  {
    id: 'odd-json-no-upgrade',
    rules: ['J-2C', 'W-06'],
    title: 'A token that makes a careless check throw is refused: nothing that breaks lets anybody in.',
    needs: ['token_check'],
    run: (lab) => demandRefused(lab, oddTokens(lab)),
  },
  {
    id: 'unknown-path-no-upgrade',
    rules: ['W-07'],
    title: 'Any other path is answered with HTTP 404, and not upgraded.',
    level: 'ours',
    needs: [],
    run: async (lab) => {
      for (const path of ['/v1/conformance-no-such-path', '/'] as const) {
        const socket = lab.probe.connect(path);
        const status = statusOf(await socket.upgraded());
        await socket.close();
        // A server may ask for the token before it reads the path.
        if (status === 404 || (status === 401 && lab.suspect.token === undefined)) continue;
        lab.fail(`${path} ${status === 101 ? 'was upgraded' : socket.stateText} and not answered with HTTP 404`);
      }
    },
  },
  {
    id: 'admitted-socket-not-cut',
    rules: ['J-04'],
    title: 'A call that was let in is not cut when its token ends.',
    level: 'ours',
    needs: ['token_check', 'token', 'signer'],
    run: async (lab) => {
      const { clock } = lab.suspect;
      const signer = lab.suspect.signer ?? lab.skip('needs a platform that signs tokens: --platform');
      const endsAtS = Math.floor(clock.nowMs() / 1000) + SKEW_LEFT_S;
      const token = await signer.sign({ claims: { exp: endsAtS - SKEW_S } });
      const socket = lab.probe.connect('voice', lab.probe.authorization(token));
      if ((await socket.upgraded()).kind !== 'open')
        lab.skip('a token that ended 26 s ago is refused: the server allows clocks less difference');
      const { call } = await lab.begun(lab.probe.call({}, socket));
      await socket.until(() => socket.isOver, (endsAtS + WATCHED_S) * 1000 - clock.nowMs());
      if (socket.closing !== undefined) lab.fail(`the socket ${socket.stateText} when its token ended`);
      await call.hangUp();
    },
  },
];
