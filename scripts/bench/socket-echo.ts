// The reference: a bare `ws` server that sends every message back as it came. It parses nothing, hears nothing and keeps nothing.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const http = createServer();
// The options of the real server that change what a message costs.
const server = new WebSocketServer({ server: http, perMessageDeflate: false, clientTracking: false, maxPayload: 131_072 });
server.on('connection', (socket) => {
  socket.on('error', () => undefined);
  socket.on('message', (message) => {
    socket.send(message, { binary: false });
  });
});
http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  console.log(JSON.stringify({ event: 'ready', port: typeof address === 'object' ? address?.port : undefined }));
});
process.once('SIGTERM', () => process.exit(0));
