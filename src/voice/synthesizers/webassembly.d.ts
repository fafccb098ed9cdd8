// The part of WebAssembly that Node offers and its types leave out; the full declarations come with browser types only.
declare namespace WebAssembly {
  /** A compiled program; many instances may be made of it. */
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
  /** The memory of an instance. The buffer is another one after the memory has grown. */
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
}
