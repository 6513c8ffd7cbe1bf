import type { OperatingSystem } from '../../../domain/asset.ts';

/** Names that are more than their words with capital letters. */
const knownNames = new Map(
  [
    'AIX',
    'AlmaLinux',
    'ASA',
    'CentOS',
    'ESXi',
    'ExtremeXOS',
    'FortiOS',
    'FreeBSD',
    'HP-UX',
    'iLO',
    'IOS',
    'lwIP',
    'macOS',
    'NetBSD',
    'NX-OS',
    'OpenBSD',
    'openSUSE',
    'OpenVMS',
    'OpenWrt',
    'OS/400',
    'PAN-OS',
    'QNX',
    'RHEL',
    'RouterOS',
    'ScreenOS',
    'SonicOS',
    'VMware',
    'VRP',
    'VxWorks',
    'z/OS',
  ].map((name) => [name.toLowerCase(), name]),
);

/** A system as people write it: `Debian 12`, `Windows Server 2022`, `Linux`. */
export function systemName({ family, distribution, version }: Omit<OperatingSystem, 'confidence'>): string {
  return [named(String(distribution || family)), String(version ?? '')]
    .filter((part) => part !== '')
    .join(' ');
}

function named(text: string): string {
  const whole = knownNames.get(text.toLowerCase());
  if (whole !== undefined) return whole;
  return text
    .split(' ')
    .map((word) => knownNames.get(word.toLowerCase()) ?? word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}
