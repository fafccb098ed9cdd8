// The reference: a bare grpc-js server that takes bytes in and gives bytes out. It decodes nothing, hears nothing and keeps
// nothing; it counts frames and answers as a server that had heard a caller would.
// Arguments: the frames after which start and end of speech are reported.
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { ANSWERS, MIN_AUDIO_MESSAGE_BYTES, RPC_PATH, saysStart } from './traffic.ts';

const [startFrame = 50, endFrame = 250] = process.argv.slice(2).map(Number);
const same = (bytes: Buffer): Buffer => bytes;

function serve(call: ServerDuplexStream<Buffer, Buffer>): void {
  let frames = 0;
  let isOver = false;
  const write = (answers: readonly Buffer[]): void => {
    for (const answer of answers) call.write(answer);
  };
  const finish = (answers: readonly Buffer[]): void => {
    isOver = true;
    write(answers);
    call.end();
  };
  call.on('error', () => undefined);
  call.on('data', (bytes: Buffer) => {
    if (isOver) return;
    if (bytes.length < MIN_AUDIO_MESSAGE_BYTES) {
      finish(saysStart(bytes) ? ANSWERS.welcome : ANSWERS.hungUp);
      return;
    }
    frames += 1;
    if (frames === startFrame) write(ANSWERS.inputStarted);
    if (frames === endFrame) {
      write(ANSWERS.inputEnded);
      finish(ANSWERS.reply);
    }
  });
  call.on('end', () => {
    if (!isOver) finish([]);
  });
}

// The options of the real server that change what a message costs.
const server = new Server({ 'grpc.enable_channelz': 0, 'grpc.max_concurrent_streams': 1000 });
server.addService(
  {
    callerInput: {
      path: RPC_PATH,
      requestStream: true,
      responseStream: true,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  },
  { callerInput: serve },
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  console.log(JSON.stringify({ event: 'ready', port }));
});
process.once('SIGTERM', () => {
  server.forceShutdown();
  process.exit(0);
});
