// The part of WebAssembly that Node offers and its types leave out; the full declarations come with browser types only.
declare namespace WebAssembly {
  /** A compiled program; many instances may be made of it. @throws CompileError from the constructor. */
  class Module {
    constructor(bytes: Uint8Array);
  }
  /** A program with its own memory. @throws LinkError or RuntimeError from the constructor. */
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  /** The memory of an instance. The buffer is another one after the memory has grown. */
  class Memory {
    readonly buffer: ArrayBuffer;
  }
}
