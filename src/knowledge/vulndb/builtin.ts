import { applicationServerCves } from './builtin/application-server.ts';
import { databaseCves } from './builtin/database.ts';
import type { BuiltinCve } from './builtin/entry.ts';
import { fileTransferCves } from './builtin/file-transfer.ts';
import { knownExploited } from './builtin/known-exploited.ts';
import { mailCves } from './builtin/mail.ts';
import { managementCves } from './builtin/management.ts';
import { nameServerCves } from './builtin/name-server.ts';
import { networkDeviceCves } from './builtin/network-device.ts';
import { smbCves } from './builtin/smb.ts';
import { sshCves } from './builtin/ssh.ts';
import { tlsLibraryCves } from './builtin/tls-library.ts';
import { vpnCves } from './builtin/vpn.ts';
import { webApplicationCves } from './builtin/web-application.ts';
import { webServerCves } from './builtin/web-server.ts';
import type { CveRecord, CveSource } from './cve-record.ts';
import { vulndbProductKey, vulnerableProducts } from './product-key.ts';

/** Every builtin entry. */
export const builtinEntries: readonly BuiltinCve[] = [
  ...sshCves,
  ...webServerCves,
  ...webApplicationCves,
  ...applicationServerCves,
  ...mailCves,
  ...fileTransferCves,
  ...databaseCves,
  ...nameServerCves,
  ...smbCves,
  ...vpnCves,
  ...networkDeviceCves,
  ...managementCves,
  ...tlsLibraryCves,
];

const byProduct = indexByProduct(builtinEntries);
const byId = new Map(builtinEntries.map((entry) => [entry.record.id, entry]));

/** The most important CVEs of network services: the data available before any import. */
export const builtinCves: CveSource = {
  version: 'builtin-2026-11-21',
  lacks: `The data here is the builtin list of ${builtinEntries.length} CVEs, without EPSS scores and the fixes of distributions: portolan vulndb sync fetches them.`,
  lookup: (vendor, product) => byProduct.get(vulndbProductKey(vendor, product)) ?? [],
  rank: (id) => ({ kev: knownExploited.get(id) ?? null, epss: null }),
  fixes: () => [],
  knowsDistribution: () => false,
};

/** Remediation of a CVE besides the update; null = none known. */
export function builtinRemedy(id: string): string | null {
  return byId.get(id)?.remedy ?? null;
}

/** The record of a CVE; null = not in the catalog. */
export function builtinRecord(id: string): CveRecord | null {
  return byId.get(id)?.record ?? null;
}

function indexByProduct(entries: readonly BuiltinCve[]): Map<string, CveRecord[]> {
  const index = new Map<string, CveRecord[]>();
  for (const { record } of entries) {
    for (const key of vulnerableProducts(record)) {
      const listed = index.get(key);
      if (listed) listed.push(record);
      else index.set(key, [record]);
    }
  }
  return index;
}

/** Whether installing the update for a CVE leaves the product's version unchanged. */
export function hidesUpdates(id: string): boolean {
  return byId.get(id)?.updatesHidden ?? false;
}
