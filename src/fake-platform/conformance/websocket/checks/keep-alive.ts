// Checks of pings, and of compressed messages.
import type { Runs } from '../../catalog.ts';
import { objectOf, type Message } from '../message.ts';
import type { SocketLab } from '../socket-probe.ts';

/** Numbers of our PINGs, far from the server's own numbers. */
const [PING_SEQ, FAR_SEQ] = [4321, 5_000_000];
/** Size of a message, larger than any server needs to accept, bytes; small when compressed (W-45). */
const BOMB_BYTES = 20 * 1024 * 1024;
const BOMB_MS = 10_000;

function pongsIn(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ json }) => json?.['type'] === 'PONG');
}

/** The server's own numbers, in order; PONGs do not count. */
function seqsIn(messages: readonly Message[]): readonly number[] {
  return messages.flatMap(({ json }) => (json?.['type'] !== 'PONG' && typeof json?.['seq'] === 'number' ? [json['seq']] : []));
}

export const KEEP_ALIVE_CHECKS: Runs<SocketLab> = {
  'ping-answered': async (lab: SocketLab) => {
    const call = await lab.ready();
    call.skipTo(PING_SEQ);
    call.socket.sendText(call.envelope('PING'), `PING #${String(PING_SEQ)}`);
    await call.socket.until(() => call.socket.isOver || pongsIn(call.socket.received).length > 0, lab.suspect.timing.answerMs);
    const pong = objectOf(pongsIn(call.socket.received)[0]?.json);
    if (pong === undefined) lab.fail(`PING ${call.socket.stateText}`);
    if (pong['seq'] !== PING_SEQ) lab.fail('the PONG has another seq than its PING');
    if (pong['conversation_id'] !== call.ids.conversationId) lab.fail('the PONG has another conversation_id than its PING');
    await call.hangUp();
  },
  'pong-leaves-seq-alone': async (lab: SocketLab) => {
    const call = await lab.ready();
    call.skipTo(FAR_SEQ);
    call.socket.sendText(call.envelope('PING'), `PING #${String(FAR_SEQ)}`);
    await call.socket.until(() => call.socket.isOver || pongsIn(call.socket.received).length > 0, lab.suspect.timing.answerMs);
    if (pongsIn(call.socket.received).length === 0) lab.skip('PING is not answered, which is another breach');
    const before = Math.max(0, ...seqsIn(call.socket.received));
    const turn = await call.goOn(lab.suspect.press);
    const after = seqsIn(turn.messages);
    if (after.length === 0) lab.skip('no turn behind a PING was answered');
    if (after.some((seq) => seq <= before || seq >= FAR_SEQ))
      lab.fail(`behind a PING #${String(FAR_SEQ)} the server went on from ${String(before)} with ${String(after[0])}`);
    if (turn.terminal === undefined) await call.hangUp();
  },
  'protocol-ping-answered': async (lab: SocketLab) => {
    const call = await lab.ready();
    call.socket.ping();
    await call.socket.until(() => call.socket.isOver || call.socket.pongs > 0, lab.suspect.timing.answerMs);
    if (call.socket.pongs === 0) lab.fail(`a ping of the protocol ${call.socket.stateText}`);
    await call.hangUp();
  },
  'compression-bounded': async (lab: SocketLab) => {
    const socket = lab.probe.connect('voice', undefined, true);
    const handshake = await socket.upgraded();
    if (handshake.kind !== 'open') lab.skip('a socket that offers compression was not let in');
    if (!handshake.extensions.includes('permessage-deflate')) {
      lab.note('the server takes no compressed messages');
      await socket.close();
      return;
    }
    const { call } = await lab.begun(lab.probe.call({}, socket));
    const audio = { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000, caller_audio_b64: '/'.repeat(BOMB_BYTES) };
    const text = call.envelope('VOICE_VA_REQUEST', { payload: call.payload({ audio_input: audio }) });
    socket.sendText(text, 'audio of 20 MB, compressed');
    await socket.until(() => socket.isOver, BOMB_MS);
    if (socket.closing === undefined) lab.fail('the socket stayed open for 10 s behind a compressed message of 20 MB');
  },
};
