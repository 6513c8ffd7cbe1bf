import { PortolanError } from '../../domain/errors.ts';

/** What an object holds; it can be read as often as need be. */
export interface ObjectContent {
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
  bytes(): AsyncIterable<Uint8Array>;
}

/**
 * A place for whole files that never change. Names are paths with `/`, their parts checked by who calls. Everything
 * throws PortolanError `unavailable` while the place cannot be reached or refuses.
 */
export interface ObjectStore {
  /** Puts an object, whole and on its disk, or not at all; one of the same name gives way. */
  put(name: string, content: ObjectContent, signal?: AbortSignal): Promise<void>;
  /**
   * The bytes of an object; null when there is none. Reading may break off with `unavailable`.
   * @param size bytes that are expected, by which is decided how long it may take
   */
  read(name: string, size: number, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>;
  /** One that is not there is no error. */
  remove(name: string, signal?: AbortSignal): Promise<void>;
}

/** @param reason follows "The result store" */
export function storeAway(reason: string, cause?: unknown): PortolanError {
  return new PortolanError('unavailable', `The result store ${reason}.`, {}, cause);
}
