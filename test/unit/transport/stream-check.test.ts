// What the connections of a port hear of the token check: who is being checked, who was good, and which RPCs are open.
import { EventEmitter } from 'node:events';
import { Metadata } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/auth/principal.ts';
import { AppError } from '../../../src/base/errors.ts';
import { Gate } from '../../../src/transport/gate.ts';
import { CallMetadata } from '../../../src/transport/grpc/call-metadata.ts';
import { StreamCheck } from '../../../src/transport/grpc/stream-check.ts';

const PRINCIPAL: Principal = { organizationId: 'org', dataSourceId: 'ds', transport: 'grpc' };

class Rpc extends EventEmitter {
  readonly metadata = new Metadata();
  readonly getPeer = (): string => '192.0.2.1:5000';
}

function checkWith(verify: () => Principal | Promise<Principal>): { readonly tokens: StreamCheck; readonly told: string[] } {
  const told: string[] = [];
  const connections = {
    began: () => {
      told.push('began');
      return () => told.push('over');
    },
    verified: () => told.push('verified'),
  };
  const metadata = new CallMetadata({ authorization: 'authorization', trackingId: 'trackingid' });
  return { tokens: new StreamCheck(new Gate({ verify }, 'grpc'), metadata, connections), told };
}

describe('StreamCheck', () => {
  it('P-18 notifies the connections that a token is being checked, and that it was refused', async () => {
    let refuse: (error: AppError) => void = () => undefined;
    const { tokens, told } = checkWith(() => new Promise((_resolve, reject) => (refuse = reject)));
    const checked = tokens.check(new Rpc());
    expect(told).toEqual(['began']);
    refuse(new AppError('unauthenticated', 'no'));
    await expect(checked).rejects.toThrow('no');
    expect(told).toEqual(['began', 'over']);
  });

  it('P-18 notifies them of a refusal that takes no time', () => {
    const { tokens, told } = checkWith(() => {
      throw new AppError('unauthenticated', 'no');
    });
    expect(() => tokens.check(new Rpc())).toThrow('no');
    expect(told).toEqual(['began', 'over']);
  });

  it.each([true, false])(
    'P-18 tells them that an RPC with a good token is open until it is over (remembered token: %s)',
    async (isKnown) => {
      const { tokens, told } = checkWith(() => (isKnown ? PRINCIPAL : Promise.resolve(PRINCIPAL)));
      const rpc = new Rpc();
      await tokens.check(rpc);
      expect(told).toEqual(['began', 'verified']);
      rpc.emit('cancelled');
      expect(told).toEqual(['began', 'verified', 'over']);
    },
  );

  it('P-18 notifies them of an answer that needs no token', () => {
    const { tokens, told } = checkWith(() => PRINCIPAL);
    tokens.answered(new Rpc());
    expect(told).toEqual(['began', 'over']);
  });
});
