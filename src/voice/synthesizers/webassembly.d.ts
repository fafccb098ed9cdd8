// The part of WebAssembly that is missing in Node's types; full declarations exist only in the browser types.
declare namespace WebAssembly {
  /** A compiled program. */
  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }
  /** @throws CompileError from the constructor. */
  const Module: new (bytes: Uint8Array) => Module;
  /** A program with its own memory. */
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>;
  }
  /** @throws LinkError or RuntimeError from the constructor. */
  const Instance: new (module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>) => Instance;
  /** The memory of an instance. Growing replaces the buffer. */
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
}
