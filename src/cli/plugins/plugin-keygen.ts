import { createSigningKeys } from '../../plugins/signature.ts';
import { type KeyPairFlags, writeKeyPair } from '../access/key-pair.ts';
import { printable } from '../terminal/draw/printable.ts';
import { note, print } from '../terminal/output.ts';

/** Prints the fingerprint, for `plugins.trusted_publishers`. */
export async function createPublisherKeys(flags: KeyPairFlags): Promise<void> {
  const keys = createSigningKeys();
  const files = await writeKeyPair('plugin', keys, flags);
  note(`${printable(files.private)} signs plugins: do not store it on machines that scan`);
  print(`${keys.fingerprint}\n`);
}
