import type { Frame } from '../sandbox/frames.ts';
import type { FrameOutput } from './frame-output.ts';
import { CallRejection } from './hosted-plugin.ts';
import type { CallResult, HostCall } from './messages.ts';

type CallFields = HostCall extends infer C ? (C extends { call: number } ? Omit<C, 'call'> : never) : never;

interface PendingCall {
  resolve(result: { value: unknown; bytes: Buffer }): void;
  reject(error: Error): void;
}

/** Calls of the host that wait for the scan. */
export class ScanCalls {
  readonly #output: FrameOutput;
  readonly #pending = new Map<number, PendingCall>();
  #last = 0;

  constructor(output: FrameOutput) {
    this.#output = output;
  }

  /** @throws CallRejection; Error if the call is too long */
  call(fields: CallFields, bytes?: Uint8Array): Promise<{ value: unknown; bytes: Buffer }> {
    if (fields.op === 'net')
      return this.#request((call) => this.#output.sendSoon({ call, ...fields }, bytes));
    return this.#request((call) => this.#output.send({ call, ...fields }, bytes));
  }

  /** The same for items that are JSON already. */
  append(node: string, key: string, items: readonly string[]): Promise<unknown> {
    const end = `,"op":"append","node":${JSON.stringify(node)},"key":${JSON.stringify(key)},"items":[${items.join(',')}]}`;
    return this.#request((call) => this.#output.sendJson(`{"call":${call}${end}`));
  }

  finish({ message, bytes }: Frame): void {
    const result = message as CallResult;
    const call = this.#pending.get(result.call);
    this.#pending.delete(result.call);
    if ('error' in result) call?.reject(new CallRejection(result.reason, result.error));
    else call?.resolve({ value: result.value, bytes });
  }

  #request(send: (call: number) => void): Promise<{ value: unknown; bytes: Buffer }> {
    this.#last += 1;
    const call = this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      try {
        send(call);
      } catch (error) {
        this.#pending.delete(call);
        reject(error as Error);
      }
    });
  }
}
