import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createLicenseKeys, issueLicense } from '../../actions/access/issue-license.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { licenseState } from '../../domain/license.ts';
import { folderMode, writeFileAtomic } from '../../workspace/atomic-file.ts';
import { License, licenseFile, readLicense } from '../../workspace/license/read-license.ts';
import { readPublicKey, readSmallFile, verifyLicense } from '../../workspace/license/verify-license.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { readConfig } from '../session/session.ts';
import { printFacts } from '../terminal/draw/print-table.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import { commaList, type GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { recordChange } from './audit-change.ts';
import { type KeyPairFlags, writeKeyPair } from './key-pair.ts';

export interface IssueFlags {
  customer: string;
  plan: string;
  features?: string;
  expiry: string;
  key: string;
  licenseId?: string;
  output?: string;
}

export async function keygen(flags: KeyPairFlags): Promise<void> {
  const files = await writeKeyPair('license', createLicenseKeys(), flags);
  note(`${printable(files.private)} signs licenses: do not store it on machines that scan`);
  note(`${printable(files.public)} verifies them: set license.public_key to it`);
}

export async function issue(flags: IssueFlags): Promise<void> {
  const key = await readInput(flags.key, 'key');
  const order = {
    customer: flags.customer,
    plan: flags.plan,
    features: flags.features === undefined ? null : commaList(flags.features),
    expiry: flags.expiry,
    licenseId: flags.licenseId ?? null,
  };
  const { license, claims } = await issueLicense(order, key);
  const until = new Date(claims.exp * 1000).toISOString();
  const allowed = claims.features.join(', ') || 'no features';
  note(
    `license ${printable(claims.license_id)} for ${printable(claims.customer_id)}: ${claims.plan}, ${allowed}, until ${until}`,
  );
  if (flags.output === undefined) print(`${license}\n`);
  else await writeFileAtomic(flags.output, `${license}\n`);
}

export async function installLicense(source: string, _flags: object, global: GlobalFlags): Promise<void> {
  const { config } = await readConfig(global);
  const text = (await readInput(source, 'license')).trim();
  const workspace = await openWorkspace(config.workspace.dir);
  const file = licenseFile(config);
  const license = await recordChange(
    { config, workspace },
    { operation: 'license.install' },
    () => store(text, file, config),
    ({ claims }) => ({ id: claims?.license_id ?? null, details: { plan: claims?.plan ?? null } }),
  );
  warn(license);
  note(`license installed in ${printable(file)}; a running server uses it after a restart`);
}

/** Stores a valid license. @throws PortolanError `license_required` for an invalid one, `configuration` */
async function store(text: string, file: string, config: Config): Promise<License> {
  const license = await verifyHere(text, await configuredKey(config), config);
  if (!license.isValid()) throw invalidLicense(license);
  await mkdir(dirname(file), { recursive: true, mode: folderMode });
  await writeFileAtomic(file, `${text}\n`);
  return license;
}

export async function showLicense({ format }: { format: string }, global: GlobalFlags): Promise<number> {
  const { config } = await readConfig(global);
  const license = await readLicense(config);
  printLicense(license, format, global);
  const missing = license.claims === null && license.problem === null && !license.enforced;
  return missing || license.isValid() ? 0 : 5;
}

export async function verify(
  source: string,
  flags: { publicKey?: string; format: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const key =
    flags.publicKey === undefined ? await configuredKey(config) : await readPublicKey(flags.publicKey);
  const license = await verifyHere((await readInput(source, 'license')).trim(), key, config);
  printLicense(license, flags.format, global);
  return license.isValid() ? 0 : 5;
}

/** Verifies a license for this installation. @throws PortolanError `license_required` for an invalid signature */
async function verifyHere(
  text: string,
  key: Awaited<ReturnType<typeof readPublicKey>>,
  { license }: Config,
): Promise<License> {
  return new License(license.enforce, await verifyLicense(text, key), null);
}

async function configuredKey({ license }: Config) {
  if (license.public_key !== null) return readPublicKey(license.public_key);
  throw new PortolanError('configuration', 'cannot verify licenses: license.public_key is not set');
}

function invalidLicense(license: License): PortolanError {
  const text = license.notice()?.text ?? 'invalid license';
  return new PortolanError('license_required', text);
}

function warn(license: License): void {
  const notice = license.notice();
  if (notice) note(`warning: ${printable(notice.text)}`);
}

function printLicense(license: License, format: string, global: GlobalFlags): void {
  const { claims } = license;
  const facts = {
    ...license.report(),
    state: claims ? licenseState(claims, Date.now()) : 'none',
    customer_id: claims?.customer_id ?? null,
    license_id: claims?.license_id ?? null,
    licensed_plan: claims?.plan ?? null,
    licensed_features: claims?.features ?? [],
    issued_at: claims && new Date(claims.iat * 1000).toISOString(),
    notice: license.notice()?.text ?? null,
  };
  if (format === 'json') print(printableJson(facts));
  else {
    const rows = Object.entries(facts).map(([name, value]): [string, string] => [
      name,
      Array.isArray(value) ? value.join(', ') || '-' : String(value ?? '-'),
    ]);
    printFacts(rows, global);
  }
  if (!license.enforced && format !== 'json')
    note('license.enforce is false: every feature works without a license');
  warn(license);
}

/** Text of a small file, or of stdin for `-`: licenses and keys must not appear in the process list. */
async function readInput(source: string, what: string): Promise<string> {
  if (source === '-') return readStdin();
  try {
    return await readSmallFile(source);
  } catch (error) {
    throw usage(`cannot read the ${what} ${source}: ${(error as Error).message}`);
  }
}

async function readStdin(): Promise<string> {
  let text = '';
  for await (const part of process.stdin) {
    text += String(part);
    if (text.length > 65_536) throw usage('input on stdin is too large for a license');
  }
  return text;
}
