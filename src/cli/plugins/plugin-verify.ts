import { readPackageFile } from '../../actions/plugins/find-package.ts';
import { pluginOfFile, signedBytes } from '../../plugins/plugin-bytes.ts';
import { evaluateSignature } from '../../plugins/signature.ts';
import { readConfig } from '../session/session.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';

/** @returns 5 unless a trusted publisher signed it */
export async function verifyPlugin(
  file: string,
  { format }: { format: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const plugin = await pluginOfFile(file, await readPackageFile(file));
  const verdict = evaluateSignature(signedBytes(plugin), plugin.signature, config.plugins);
  const { name, version, kind, sha256 } = plugin.file;
  if (format === 'json') print(printableJson({ name, version, kind, sha256, signature: verdict }));
  else {
    const by = verdict.fingerprint ? ` by ${verdict.publisher ?? '-'} (${verdict.fingerprint})` : '';
    const unbound =
      verdict.state === 'trusted' && !verdict.bound ? '; publisher and expiry are not signed' : '';
    const why = verdict.reason ? `: ${verdict.reason}` : '';
    print(
      `${name} ${version} (${kind}), sha256 ${sha256}\nsignature ${verdict.state}${printable(by + why)}${unbound}\n`,
    );
  }
  return verdict.state === 'trusted' ? 0 : 5;
}
