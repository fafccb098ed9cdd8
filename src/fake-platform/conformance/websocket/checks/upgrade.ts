// Checks of the upgrade: paths, and who may connect.
import type { Runs } from '../../catalog.ts';
import { demandRefused, malformedTokens, oddTokens } from '../../checks/tokens.ts';
import type { Handshake } from '../probe-socket.ts';
import type { SocketLab } from '../socket-probe.ts';

function statusOf(handshake: Handshake): number | undefined {
  return handshake.kind === 'refused' ? handshake.status : handshake.kind === 'open' ? 101 : undefined;
}

/** The skew that a server may allow, the rest of it when a call begins, and how long to watch the call beyond that, s (J-04, J-16). */
const [SKEW_S, SKEW_LEFT_S, WATCHED_S] = [30, 4, 2];

export const UPGRADE_CHECKS: Runs<SocketLab> = {
  'both-channels-served': async (lab) => {
    for (const channel of ['voice', 'list'] as const) {
      const socket = lab.probe.connect(channel);
      const status = statusOf(await socket.upgraded());
      await socket.close();
      if (status === 401) lab.skip('the server lets nobody see its channels without a good token');
      if (status !== 101) lab.fail(`the ${channel} channel ${socket.stateText}`);
    }
  },
  'no-token-no-upgrade': async (lab) => {
    await demandRefused(lab, { 'a socket without a token': null });
    // A list that alone needs no token breaks the same rule here.
    if (lab.suspect.wantsToken && !lab.suspect.listWantsToken) lab.fail('the agents were listed without a token');
  },
  // The newest guide rejects a bare token, and the newest gateway accepts it.
  'bare-token-refused': (lab) => demandRefused(lab, { 'the good token without Bearer': lab.suspect.token ?? '' }),
  'malformed-token-no-upgrade': (lab) => demandRefused(lab, malformedTokens(lab)),
  'odd-json-no-upgrade': (lab) => demandRefused(lab, oddTokens(lab)),
  'unknown-path-no-upgrade': async (lab) => {
    for (const path of ['/v1/conformance-no-such-path', '/'] as const) {
      const socket = lab.probe.connect(path);
      const status = statusOf(await socket.upgraded());
      await socket.close();
      // A server may check the token before it reads the path.
      if (status === 404 || (status === 401 && lab.suspect.token === undefined)) continue;
      lab.fail(`${path} ${status === 101 ? 'was upgraded' : socket.stateText} and not answered with HTTP 404`);
    }
  },
  'admitted-socket-not-cut': async (lab) => {
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
};
