import { describe, expect, it } from 'vitest';
import { MemoryWasi, OUTPUT_NAME } from '../../../../src/voice/synthesizers/memory-wasi.ts';

function started(maxOutputBytes: number): { system: MemoryWasi; view: DataView; bytes: Uint8Array } {
  const buffer = new ArrayBuffer(4096);
  const system = new MemoryWasi({ args: ['program', '-t', 'Hällo'], maxOutputBytes });
  system.attach({ buffer });
  return { system, view: new DataView(buffer), bytes: new Uint8Array(buffer) };
}

function write(fd: number, content: string, { system, view, bytes }: ReturnType<typeof started>): number {
  bytes.set(Buffer.from(content), 1000);
  view.setUint32(500, 1000, true);
  view.setUint32(504, content.length, true);
  return system.imports.fd_write(fd, 500, 1, 600);
}

describe('MemoryWasi', () => {
  it('passes the arguments', () => {
    const { system, view, bytes } = started(10);
    system.imports.args_sizes_get(0, 4);
    expect([view.getUint32(0, true), view.getUint32(4, true)]).toEqual([3, Buffer.byteLength('program\0-t\0Hällo\0')]);
    system.imports.args_get(16, 100);
    expect(Buffer.from(bytes.subarray(100, 100 + view.getUint32(4, true))).toString()).toBe('program\0-t\0Hällo\0');
    expect([16, 20, 24].map((at) => view.getUint32(at, true))).toEqual([100, 108, 111]);
  });

  it('opens its one file and nothing else', () => {
    const { system, bytes, view } = started(10);
    const open = (name: string, folder = 3): number => {
      bytes.set(Buffer.from(name), 200);
      return system.imports.path_open(folder, 0, 200, name.length, 9, 0n, 0n, 0, 300);
    };
    expect(open(OUTPUT_NAME)).toBe(0);
    expect(view.getUint32(300, true)).toBe(4);
    expect(open('etc/passwd')).not.toBe(0);
    expect(open(OUTPUT_NAME, 5)).not.toBe(0);
    expect(system.imports.fd_prestat_get(4, 0)).not.toBe(0);
    expect(system.imports.fd_read()).not.toBe(0);
  });

  it('collects what is written to the file and swallows what is written to standard streams', () => {
    const program = started(10);
    expect(write(4, 'abc', program)).toBe(0);
    expect(write(1, 'noise', program)).toBe(0);
    expect(write(2, 'a complaint that quotes', program)).toBe(0);
    expect(write(4, 'def', program)).toBe(0);
    expect(Buffer.from(program.system.output).toString()).toBe('abcdef');
    expect(program.system.isFull).toBe(false);
  });

  it('is full after the bytes it was given', () => {
    const program = started(4);
    expect(write(4, 'abc', program)).toBe(0);
    expect(write(4, 'de', program)).not.toBe(0);
    expect(program.system.isFull).toBe(true);
    expect(program.system.output).toHaveLength(3);
  });

  it('turns the end of the program by its own hand into an error', () => {
    expect(() => started(1).system.imports.proc_exit(2)).toThrow('code 2');
  });
});
