// The system calls of a WASI program: arguments and one output file, both in memory. The program gets no real file,
// environment, clock or standard stream, so its text never reaches a disk. Does not know which program runs.

/** Result codes of WASI. */
const SUCCESS = 0;
const BAD_FILE = 8;
const NO_ENTRY = 44;
const NO_SPACE = 51;
const NOT_SEEKABLE = 70;

const DIRECTORY = 3;
const REGULAR_FILE = 4;
/** The one open folder; WASI programs expect folders from descriptor 3. */
const FOLDER_FD = 3;
/** The one file that can be opened. */
const OUTPUT_FD = 4;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;

/** Name of the file the program can write. */
export const OUTPUT_NAME = 'out.wav';

/** One run of one program. */
export class MemoryWasi {
  readonly #args: readonly Uint8Array[];
  readonly #maxOutputBytes: number;
  readonly #pieces: Uint8Array[] = [];
  #outputBytes = 0;
  #memory: WebAssembly.Memory | undefined;

  /**
   * @param options.args - the program's arguments, its name first; no NUL characters.
   * @param options.maxOutputBytes - above this the program sees a full disk.
   */
  constructor(options: { args: readonly string[]; maxOutputBytes: number }) {
    this.#args = options.args.map((arg) => Buffer.from(`${arg}\0`));
    this.#maxOutputBytes = options.maxOutputBytes;
  }

  /** The system calls, by the names a WASI program imports them under. */
  readonly imports = {
    args_sizes_get: (countAt: number, bytesAt: number): number => {
      this.#setUint32(countAt, this.#args.length);
      this.#setUint32(
        bytesAt,
        this.#args.reduce((sum, arg) => sum + arg.length, 0),
      );
      return SUCCESS;
    },
    args_get: (pointersAt: number, bytesAt: number): number => {
      this.#args.reduce((at, arg, index) => {
        this.#setUint32(pointersAt + index * 4, at);
        this.#bytes().set(arg, at);
        return at + arg.length;
      }, bytesAt);
      return SUCCESS;
    },
    // A constant, so that the speech depends only on the text.
    clock_time_get: (_clock: number, _precision: bigint, timeAt: number): number => {
      this.#view().setBigUint64(timeAt, 0n, true);
      return SUCCESS;
    },
    fd_prestat_get: (fd: number, statAt: number): number => {
      if (fd !== FOLDER_FD) return BAD_FILE;
      this.#setUint32(statAt, 0);
      this.#setUint32(statAt + 4, 1);
      return SUCCESS;
    },
    fd_prestat_dir_name: (fd: number, nameAt: number): number => {
      if (fd !== FOLDER_FD) return BAD_FILE;
      this.#bytes()[nameAt] = '/'.charCodeAt(0);
      return SUCCESS;
    },
    fd_fdstat_get: (fd: number, statAt: number): number => {
      this.#bytes().fill(0, statAt, statAt + 24);
      this.#bytes()[statAt] = fd === FOLDER_FD ? DIRECTORY : REGULAR_FILE;
      this.#view().setBigUint64(statAt + 8, ALL_RIGHTS, true);
      this.#view().setBigUint64(statAt + 16, ALL_RIGHTS, true);
      return SUCCESS;
    },
    fd_fdstat_set_flags: (): number => SUCCESS,
    path_open: (folder: number, _lookup: number, nameAt: number, nameBytes: number, ...rest: readonly unknown[]): number => {
      const name = Buffer.from(this.#bytes().subarray(nameAt, nameAt + nameBytes)).toString();
      if (folder !== FOLDER_FD || name !== OUTPUT_NAME) return NO_ENTRY;
      const fdAt = rest.at(-1);
      if (typeof fdAt !== 'number') return BAD_FILE;
      this.#setUint32(fdAt, OUTPUT_FD);
      return SUCCESS;
    },
    fd_write: (fd: number, vectorsAt: number, count: number, writtenAt: number): number => {
      let written = 0;
      for (let index = 0; index < count; index += 1) {
        const at = this.#view().getUint32(vectorsAt + index * 8, true);
        const length = this.#view().getUint32(vectorsAt + index * 8 + 4, true);
        written += length;
        if (fd !== OUTPUT_FD) continue;
        this.#outputBytes += length;
        if (this.#outputBytes > this.#maxOutputBytes) return NO_SPACE;
        this.#pieces.push(this.#bytes().slice(at, at + length));
      }
      // Descriptors 1 and 2 discard their data: an error message may quote the text.
      this.#setUint32(writtenAt, written);
      return SUCCESS;
    },
    fd_read: (): number => BAD_FILE,
    fd_seek: (): number => NOT_SEEKABLE,
    fd_close: (): number => SUCCESS,
    proc_exit: (code: number): never => {
      throw new Error(`the program ended itself with code ${String(code)}`);
    },
  };

  /** Sets the program's memory; required before the program starts. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  /** Whether the program exceeded the output limit. */
  get isFull(): boolean {
    return this.#outputBytes > this.#maxOutputBytes;
  }

  /** The output so far. */
  get output(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  // Read each time, because growing the memory replaces the buffer.
  #buffer(): ArrayBuffer {
    if (this.#memory === undefined) throw new Error('the program made a system call before it had memory');
    return this.#memory.buffer;
  }

  #bytes(): Uint8Array {
    return new Uint8Array(this.#buffer());
  }

  #view(): DataView {
    return new DataView(this.#buffer());
  }

  #setUint32(at: number, value: number): void {
    this.#view().setUint32(at, value, true);
  }
}
