import { products } from './product-names.ts';
import { onWindows, rows } from './row.ts';
import type { Signature } from './signature.ts';

const ftp = (certainty: number) => rows('ftp', 'ftp.greeting', certainty);

/** FTP and other file servers. */
export const fileTransferSignatures: readonly Signature[] = [
  ftp(0.98)('ftp.vsftpd', 'vsftpd', 'vsftpd_project:vsftpd', String.raw`\(vsFTPd <v>\)`, [
    {
      text: '(vsFTPd 3.0.3)',
      version: '3.0.3',
      cpe: 'cpe:2.3:a:vsftpd_project:vsftpd:3.0.3:*:*:*:*:*:*:*',
    },
  ]),
  ftp(0.98)(
    'ftp.proftpd',
    'ProFTPD',
    'proftpd',
    String.raw`\bProFTPD (?P<version>\d+\.\d+\.\d+[a-h]?)(?P<candidate>rc\d+)?(?:[-_+~.]?(?P<suffix>[A-Za-z0-9][\w.+~-]*))?? Server`,
    [
      { text: 'ProFTPD 1.3.5e Server (Debian) [::ffff:192.0.2.1]', version: '1.3.5e' },
      { text: 'ProFTPD 1.3.8rc2 Server (ProFTPD)', version: '1.3.8rc2' },
    ],
    null,
    {
      version: '{version}{candidate}',
      revision: '{suffix}',
      cpe: { part: 'a', vendor: 'proftpd', product: 'proftpd', version: '{version}', update: '{candidate}' },
    },
  ),
  ftp(0.95)(
    'ftp.proftpd-hidden',
    ...products.proftpd,
    String.raw`\bProFTPD Server \(`,
    'ProFTPD Server (Debian) [::ffff:192.0.2.1]',
  ),
  ftp(0.97)(
    'ftp.pure-ftpd',
    'Pure-FTPd',
    'pureftpd:pure-ftpd',
    String.raw`\bPure-FTPd\b`,
    '---------- Welcome to Pure-FTPd [privsep] [TLS] ----------',
  ),
  ftp(0.97)(
    'ftp.filezilla',
    'FileZilla Server',
    'filezilla-project:filezilla_server',
    String.raw`\bFileZilla Server(?: version)? v?(?P<version>\d+\.\d+\.\d+)(?: beta)?`,
    [
      { text: 'FileZilla Server 1.7.3', version: '1.7.3' },
      { text: 'FileZilla Server version 0.9.60 beta', version: '0.9.60' },
    ],
  ),
  ftp(0.95)(
    'ftp.microsoft',
    'Microsoft FTP Service',
    'microsoft',
    String.raw`\bMicrosoft FTP Service\b`,
    [{ text: 'Microsoft FTP Service', version: null, os: 'windows' }],
    null,
    onWindows,
  ),
  ftp(0.95)(
    'ftp.pyftpdlib',
    'pyftpdlib',
    'pyftpdlib_project:pyftpdlib',
    String.raw`\bpyftpdlib (?P<version>\d+\.\d+(?:\.\d+)*)`,
    'pyftpdlib 1.5.7 ready.',
    '1.5.7',
  ),
  rows('rsync', 'banner.raw', 0.9)(
    'rsync.daemon',
    'rsync',
    'samba:rsync',
    String.raw`^@RSYNCD: (?P<protocol>\d+\.\d+)`,
    '@RSYNCD: 31.0\n',
  ),
];
