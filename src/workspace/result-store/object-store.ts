import { PortolanError } from '../../domain/errors.ts';

/** Content of an object, repeatable. */
export interface ObjectContent {
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
  bytes(): AsyncIterable<Uint8Array>;
}

export interface NamedContent {
  name: string;
  content: ObjectContent;
}

/**
 * A store for immutable files. Names are paths with `/`, validated by the caller. Everything throws PortolanError
 * `unavailable` while the store is unreachable or rejects requests.
 */
export interface ObjectStore {
  /** Stores an object durably and atomically, replacing one of the same name. */
  put(name: string, content: ObjectContent, signal?: AbortSignal): Promise<void>;
  /** Bytes that `putAll` stores at once at most; without it objects are stored one by one. */
  readonly maxAtOnce?: number;
  /** Stores all of the objects durably, or none of them. */
  putAll?(objects: readonly NamedContent[], signal?: AbortSignal): Promise<void>;
  /**
   * The bytes of an object; null if there is none. Reading may fail with `unavailable`.
   * @param size expected bytes, which determine the timeout
   */
  read(name: string, size: number, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>;
  /** Removing a missing object is not an error. */
  remove(name: string, signal?: AbortSignal): Promise<void>;
}

/** @param reason follows "The result store" */
export function storeAway(reason: string, cause?: unknown): PortolanError {
  return new PortolanError('unavailable', `The result store ${reason}.`, {}, cause);
}
