import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createLicenseKeys, issueLicense } from '../../actions/access/issue-license.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { licenseState } from '../../domain/license.ts';
import { folderMode, writeFileAtomic } from '../../workspace/atomic-file.ts';
import { License, licenseFile, readLicense } from '../../workspace/license/read-license.ts';
import { readPublicKey, readSmallFile, verifyLicense } from '../../workspace/license/verify-license.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { readConfig } from '../session/session.ts';
import { renderColumns } from '../terminal/columns.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import { recordChange } from './audit-change.ts';

export interface IssueFlags {
  customer: string;
  plan: string;
  features?: string;
  expiry: string;
  key: string;
  licenseId?: string;
  output?: string;
}

export async function keygen(folder: string, force: boolean): Promise<number> {
  const files = { private: join(folder, 'license-private.pem'), public: join(folder, 'license-public.pem') };
  if (!force) for (const file of Object.values(files)) await refuseExisting(file);
  const { privateKey, publicKey } = createLicenseKeys();
  await mkdir(folder, { recursive: true, mode: folderMode });
  await writeFileAtomic(files.private, privateKey);
  await writeFileAtomic(files.public, publicKey);
  note(`${printable(files.private)} signs licences: keep it away from the machines that scan`);
  note(`${printable(files.public)} checks them: set license.public_key to it`);
  return 0;
}

async function refuseExisting(file: string): Promise<void> {
  const there = await lstat(file).then(
    () => true,
    () => false,
  );
  if (there) throw new PortolanError('conflict', `${file} is there already; --force replaces it`);
}

export async function issue(flags: IssueFlags): Promise<number> {
  const key = await readInput(flags.key, 'key');
  const features = flags.features?.split(',').map((name) => name.trim()) ?? null;
  const order = {
    customer: flags.customer,
    plan: flags.plan,
    features: features?.filter((name) => name !== '') ?? null,
    expiry: flags.expiry,
    licenceId: flags.licenseId ?? null,
  };
  const { licence, claims } = await issueLicense(order, key);
  const until = new Date(claims.exp * 1000).toISOString();
  const allowed = claims.features.join(', ') || 'no features';
  note(
    `licence ${printable(claims.license_id)} for ${printable(claims.customer_id)}: ${claims.plan}, ${allowed}, until ${until}`,
  );
  if (flags.output === undefined) print(`${licence}\n`);
  else await writeFileAtomic(flags.output, `${licence}\n`);
  return 0;
}

export async function installLicense(source: string, global: GlobalFlags): Promise<number> {
  const { config } = await readConfig(global);
  const text = (await readInput(source, 'licence')).trim();
  const workspace = await openWorkspace(config.workspace.dir);
  const file = licenseFile(config);
  const licence = await recordChange(
    { config, workspace },
    { operation: 'license.install' },
    () => keep(text, file, config),
    ({ claims }) => ({ id: claims?.license_id ?? null, details: { plan: claims?.plan ?? null } }),
  );
  warn(licence);
  note(`the licence is in ${printable(file)}; a running server takes it at its next start`);
  return 0;
}

/** Writes a licence that is good. @throws PortolanError `license_required` for another one, `configuration` */
async function keep(text: string, file: string, config: Config): Promise<License> {
  const licence = await judge(text, await configuredKey(config), config);
  if (!licence.isValid()) throw notGood(licence);
  await mkdir(dirname(file), { recursive: true, mode: folderMode });
  await writeFileAtomic(file, `${text}\n`);
  return licence;
}

export async function showLicense(format: string, global: GlobalFlags): Promise<number> {
  const { config } = await readConfig(global);
  const licence = await readLicense(config);
  printLicence(licence, format);
  const missing = licence.claims === null && licence.problem === null && !licence.enforced;
  return missing || licence.isValid() ? 0 : 5;
}

export async function verify(
  source: string,
  flags: { publicKey?: string; format: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const key =
    flags.publicKey === undefined ? await configuredKey(config) : await readPublicKey(flags.publicKey);
  const licence = await judge((await readInput(source, 'licence')).trim(), key, config);
  printLicence(licence, flags.format);
  return licence.isValid() ? 0 : 5;
}

/** What the licence would allow here. @throws PortolanError `license_required` when nobody has signed it */
async function judge(
  text: string,
  key: Awaited<ReturnType<typeof readPublicKey>>,
  { license }: Config,
): Promise<License> {
  return new License(license.enforce, await verifyLicense(text, key), null);
}

async function configuredKey({ license }: Config) {
  if (license.public_key !== null) return readPublicKey(license.public_key);
  throw new PortolanError('configuration', 'license.public_key is not set; licences cannot be checked');
}

function notGood(licence: License): PortolanError {
  const text = licence.notice()?.text ?? 'the licence is not good';
  return new PortolanError('license_required', text);
}

function warn(licence: License): void {
  const notice = licence.notice();
  if (notice) note(`warning: ${printable(notice.text)}`);
}

function printLicence(licence: License, format: string): void {
  const { claims } = licence;
  const facts = {
    ...licence.report(),
    state: claims ? licenseState(claims, Date.now()) : 'none',
    customer_id: claims?.customer_id ?? null,
    license_id: claims?.license_id ?? null,
    licensed_plan: claims?.plan ?? null,
    licensed_features: claims?.features ?? [],
    issued_at: claims && new Date(claims.iat * 1000).toISOString(),
    notice: licence.notice()?.text ?? null,
  };
  if (format === 'json') print(printableJson(facts));
  else {
    const rows = Object.entries(facts).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') || '-' : String(value ?? '-'),
    ]);
    print(renderColumns(['FACT', 'VALUE'], rows));
  }
  if (!licence.enforced && format !== 'json')
    note('license.enforce is false: every feature works without a licence');
  warn(licence);
}

/** Text of a small file, or of stdin for `-`: neither licence nor key may be seen in a list of processes. */
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
    if (text.length > 65_536) throw usage('what came on stdin is too large for a licence');
  }
  return text;
}
