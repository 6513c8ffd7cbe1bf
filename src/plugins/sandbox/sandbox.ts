import type { Frame } from './frames.ts';
import { HostProcess, type SandboxOptions } from './host-process.ts';

const restarts = 1;

export interface SandboxHooks {
  /** Gets every frame that is no response; what it throws ends the host. */
  receive?: (frame: Frame, host: HostProcess) => void;
  /** Runs on every host before its first call. */
  prepare?: (host: HostProcess) => Promise<void>;
}

/** A confined host that is started again once when it ends; after that every call fails with the last cause. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #hooks: SandboxHooks;
  #host: Promise<HostProcess>;
  #restartsLeft = restarts;

  private constructor(options: SandboxOptions, hooks: SandboxHooks, host: HostProcess) {
    this.#options = options;
    this.#hooks = hooks;
    this.#host = Promise.resolve(host);
  }

  /** @throws SandboxFailure, or what `prepare` throws */
  static async start(options: SandboxOptions, hooks: SandboxHooks = {}): Promise<Sandbox> {
    return new Sandbox(options, hooks, await startHost(options, hooks));
  }

  /** Id of the process. */
  async pid(): Promise<number> {
    return (await this.#host).pid;
  }

  /** @throws SandboxFailure; the call itself is not repeated */
  async call(message: object, deadlineMs: number, bytes?: Uint8Array): Promise<Frame> {
    const host = await this.host();
    return await host.call(message, deadlineMs, bytes);
  }

  /** The host that runs, started again if it may be; else the one that has ended. */
  async host(): Promise<HostProcess> {
    const current = this.#host;
    const host = await current;
    // Somebody else has started it again meanwhile.
    if (this.#host !== current) return await this.host();
    if (host.failure === null || this.#restartsLeft === 0) return host;
    this.#restartsLeft -= 1;
    this.#host = startHost(this.#options, this.#hooks);
    return await this.#host;
  }

  /** The host, unless it has ended. */
  async running(): Promise<HostProcess | null> {
    const host = await this.#host.catch(() => null);
    return host?.failure === null ? host : null;
  }

  /** No restart afterward. */
  async close(): Promise<void> {
    this.#restartsLeft = 0;
    const host = await this.#host.catch(() => null);
    await host?.close();
  }
}

async function startHost(options: SandboxOptions, hooks: SandboxHooks): Promise<HostProcess> {
  const host = await HostProcess.start(options, hooks.receive);
  try {
    await hooks.prepare?.(host);
    return host;
  } catch (error) {
    await host.close();
    throw error;
  }
}
