import type { Frame } from './frames.ts';
import { HostProcess, type SandboxOptions } from './host-process.ts';

const restarts = 1;

/** A confined host that is started again once when it ends; after that every call fails with the last cause. */
export class Sandbox {
  readonly #options: SandboxOptions;
  #host: Promise<HostProcess>;
  #restartsLeft = restarts;

  private constructor(options: SandboxOptions, host: HostProcess) {
    this.#options = options;
    this.#host = Promise.resolve(host);
  }

  /** @throws SandboxFailure */
  static async start(options: SandboxOptions): Promise<Sandbox> {
    return new Sandbox(options, await HostProcess.start(options));
  }

  /** Id of the process. */
  async pid(): Promise<number> {
    return (await this.#host).pid;
  }

  /** @throws SandboxFailure; the call itself is not repeated */
  async call(message: object, deadlineMs: number, bytes?: Uint8Array): Promise<Frame> {
    const host = await this.#alive();
    return await host.call(message, deadlineMs, bytes);
  }

  /** No restart afterward. */
  async close(): Promise<void> {
    this.#restartsLeft = 0;
    const host = await this.#host.catch(() => null);
    await host?.close();
  }

  async #alive(): Promise<HostProcess> {
    const host = await this.#host;
    if (host.failure === null || this.#restartsLeft === 0) return host;
    this.#restartsLeft -= 1;
    this.#host = HostProcess.start(this.#options);
    return await this.#host;
  }
}
