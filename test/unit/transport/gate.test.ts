import { expect, it, describe } from 'vitest';
import { Gate, type Visitor } from '../../../src/transport/gate.ts';

const checked: Visitor = { kind: 'checked', principal: { organizationId: 'org', dataSourceId: 'd', transport: 'grpc' } };
const unchecked: Visitor = { kind: 'unchecked' };

describe('the organization of a message', () => {
  it('G-08 W-22 is that of its token where the message names none, and no other one', () => {
    const gate = new Gate(undefined, 'grpc', { soleOrganization: 'sole' });
    expect([gate.bind(checked, ''), gate.bind(checked, 'org')]).toEqual(['org', 'org']);
    expect(() => gate.bind(checked, 'other')).toThrow(expect.objectContaining({ code: 'foreign_organization' }) as Error);
  });

  it('G-08 is the only one that is configured where neither a token nor the message names one', () => {
    const gate = new Gate(undefined, 'grpc', { soleOrganization: 'sole' });
    expect([gate.bind(unchecked, ''), gate.bind(unchecked, 'any')]).toEqual(['sole', 'any']);
    expect(new Gate(undefined, 'grpc', { soleOrganization: '' }).bind(unchecked, '')).toBe('');
  });

  it('G-08 must be named where more than one is configured and nobody looks at tokens', () => {
    expect(() => new Gate(undefined, 'grpc').bind(unchecked, '')).toThrow(expect.objectContaining({ code: 'bad_message' }) as Error);
  });
});
