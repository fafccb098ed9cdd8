// The same calls on every transport: none may bring a bot other events, or its caller another sound.
import { describe } from 'vitest';
import { transportSuite } from '../suites/transport.ts';
import { grpcTransport } from '../support/transports/grpc.ts';
import { memoryTransport } from '../support/transports/memory.ts';
import { websocketTransport } from '../support/transports/websocket.ts';

describe('the same calls', () => {
  transportSuite('without a wire', memoryTransport);
  transportSuite('over gRPC', grpcTransport);
});

// One socket instead of a stream for each turn; turns begin and end where the words on it say so; sound without a header.
describe('the same calls (W-08, W-15, W-23, W-24, W-27, W-30)', () => {
  transportSuite('over WebSocket', websocketTransport);
});
