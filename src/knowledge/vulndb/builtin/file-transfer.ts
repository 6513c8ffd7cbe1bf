import { cvesOf } from './entry.ts';

const moveit = cvesOf('a:progress:moveit_transfer');
const goanywhere = cvesOf('a:fortra:goanywhere_managed_file_transfer');
const crushftp = cvesOf('a:crushftp:crushftp');
const proftpd = cvesOf('a:proftpd:proftpd');
const pureFtpd = cvesOf('a:pureftpd:pure-ftpd');
const rsync = cvesOf('a:samba:rsync');
const memory = 'Put a firewall before it until the update is in.';

/** FTP servers, managed file transfer, rsync and file sharing. */
export const fileTransferCves = [
  cvesOf('a:vsftpd_project:vsftpd')('CVE-2011-2523', 'NLNN/U/HHH', ['= 2.3.4'], {
    title: 'A user name with a smiley opens a shell on port 6200: this download was tampered with',
    remedy: 'Rebuild from sources whose signature was checked, and treat the host as compromised.',
  }),
  proftpd('CVE-2015-3306', 'NLNN/C/HHH', ['= 1.3.5'], {
    title: 'mod_copy lets strangers copy any file, and so run code',
    remedy: 'Until the update, do not load mod_copy.',
  }),
  proftpd('CVE-2019-18217', 'NLNN/U/NNH', ['< 1.3.6b'], {
    title: 'Overlong commands send the server into an endless loop',
  }),
  proftpd('CVE-2021-46854', 'NLNN/U/HNN', ['< 1.3.7c'], {
    title: 'mod_radius sends pieces of memory to the RADIUS server',
  }),
  proftpd('CVE-2023-51713', 'NLNN/U/NNH', ['< 1.3.8a'], {
    title: 'A quote at the end of a command is read out of bounds and crashes the session',
  }),
  pureFtpd('CVE-2021-40524', 'NLNN/U/NNH', ['>= 1.0.23, < 1.0.50'], {
    title: 'A wrong comparison lets users store more than their quota',
  }),
  pureFtpd('CVE-2020-9365', 'NLNN/U/HNN', ['= 1.0.49'], {
    title: 'A comparison of strings reads outside its buffer',
  }),
  cvesOf('a:wftpserver:wing_ftp_server')('CVE-2025-47812', 'NLNN/C/HHH', ['< 7.4.4'], {
    title: 'A null byte in the user name of the web login runs Lua code as root',
  }),
  moveit(
    'CVE-2023-34362',
    'NLNN/U/HHH',
    [
      '< 2021.0.6',
      '>= 2021.1.0, < 2021.1.4',
      '>= 2022.0.0, < 2022.0.4',
      '>= 2022.1.0, < 2022.1.5',
      '>= 2023.0.0, < 2023.0.1',
    ],
    { title: 'SQL injection without a login reads the database and runs code', remedy: memory },
  ),
  moveit(
    'CVE-2023-35036',
    'NLNN/U/HHN',
    [
      '< 2021.0.7',
      '>= 2021.1.0, < 2021.1.5',
      '>= 2022.0.0, < 2022.0.5',
      '>= 2022.1.0, < 2022.1.6',
      '>= 2023.0.0, < 2023.0.2',
    ],
    { title: 'SQL injection without a login reads and changes the database', remedy: memory },
  ),
  moveit(
    'CVE-2024-5806',
    'NLNN/U/HHN',
    ['>= 2023.0.0, < 2023.0.11', '>= 2023.1.0, < 2023.1.6', '>= 2024.0.0, < 2024.0.2'],
    { title: 'The SFTP module can be passed without credentials' },
  ),
  goanywhere('CVE-2023-0669', 'NLHN/U/HHH', ['< 7.1.2'], {
    title: 'The licence servlet of the administration console deserialises objects and runs code',
  }),
  goanywhere('CVE-2024-0204', 'NLNN/U/HHH', ['< 7.4.1'], { title: 'Strangers create an administrator' }),
  goanywhere('CVE-2025-10035', 'NLNN/C/HHH', ['< 7.6.3', '>= 7.7.0, < 7.8.4'], {
    title: 'A forged licence response is deserialised and runs commands',
  }),
  crushftp('CVE-2025-31161', 'NLNN/U/HHH', ['>= 10.0.0, < 10.8.4', '>= 11.0.0, < 11.3.1'], {
    title: 'The S3 authentication header logs strangers in as any user',
  }),
  rsync('CVE-2024-12084', 'NLNN/U/HHH', ['>= 3.2.7, < 3.4.0'], {
    title: 'A checksum length of the client overflows the heap of the daemon',
  }),
  rsync('CVE-2024-12085', 'NLNN/U/HNN', ['< 3.4.0'], {
    title: 'A checksum length of the client makes the daemon leak its stack byte by byte',
  }),
];
