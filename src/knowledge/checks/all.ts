import { certificateChecks } from './certificate.ts';
import type { Check } from './check.ts';
import { dataStoreChecks } from './data-store.ts';
import { managementChecks } from './management.ts';
import { remoteAccessChecks } from './remote-access.ts';
import { versionDisclosure } from './version-disclosure.ts';
import { webChecks } from './web.ts';

/** The checks of responses, by family. */
export const checkFamilies: Readonly<Record<string, readonly Check[]>> = {
  'Data stores': dataStoreChecks,
  'Management, shares and name service': managementChecks,
  'Remote access': remoteAccessChecks,
  Web: webChecks,
  Certificates: certificateChecks,
};

export const checks: readonly Check[] = Object.values(checkFamilies).flat();

/** Every valid check id. */
export const checkIds: readonly string[] = [...checks.map(({ id }) => id), versionDisclosure.id];
