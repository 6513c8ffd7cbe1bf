import { cve } from './entry.ts';

const moveit = 'a:progress:moveit_transfer';
const goanywhere = 'a:fortra:goanywhere_managed_file_transfer';
const crushftp = 'a:crushftp:crushftp';
const memory = 'Put a firewall before it until the update is in.';

/** FTP servers, managed file transfer, rsync and file sharing. */
export const fileTransferCves = [
  cve(
    'CVE-2011-2523',
    'NLNN/U/HHH',
    'A user name with a smiley opens a shell on port 6200: this download was tampered with',
    { 'a:vsftpd_project:vsftpd': ['= 2.3.4'] },
    { remedy: 'Rebuild from sources whose signature was checked, and treat the host as compromised.' },
  ),
  cve(
    'CVE-2015-3306',
    'NLNN/C/HHH',
    'mod_copy lets strangers copy any file, and so run code',
    { 'a:proftpd:proftpd': ['= 1.3.5'] },
    { remedy: 'Until the update, do not load mod_copy.' },
  ),
  cve('CVE-2019-18217', 'NLNN/U/NNH', 'Overlong commands send the server into an endless loop', {
    'a:proftpd:proftpd': ['< 1.3.6b'],
  }),
  cve('CVE-2021-46854', 'NLNN/U/HNN', 'mod_radius sends pieces of memory to the RADIUS server', {
    'a:proftpd:proftpd': ['< 1.3.7c'],
  }),
  cve(
    'CVE-2023-51713',
    'NLNN/U/NNH',
    'A quote at the end of a command is read out of bounds and crashes the session',
    { 'a:proftpd:proftpd': ['< 1.3.8a'] },
  ),
  cve('CVE-2021-40524', 'NLNN/U/NNH', 'A wrong comparison lets users store more than their quota', {
    'a:pureftpd:pure-ftpd': ['>= 1.0.23, < 1.0.50'],
  }),
  cve('CVE-2020-9365', 'NLNN/U/HNN', 'A comparison of strings reads outside its buffer', {
    'a:pureftpd:pure-ftpd': ['= 1.0.49'],
  }),
  cve('CVE-2025-47812', 'NLNN/C/HHH', 'A null byte in the user name of the web login runs Lua code as root', {
    'a:wftpserver:wing_ftp_server': ['< 7.4.4'],
  }),
  cve(
    'CVE-2023-34362',
    'NLNN/U/HHH',
    'SQL injection without a login reads the database and runs code',
    {
      [moveit]: [
        '< 2021.0.6',
        '>= 2021.1.0, < 2021.1.4',
        '>= 2022.0.0, < 2022.0.4',
        '>= 2022.1.0, < 2022.1.5',
        '>= 2023.0.0, < 2023.0.1',
      ],
    },
    { remedy: memory },
  ),
  cve(
    'CVE-2023-35036',
    'NLNN/U/HHN',
    'SQL injection without a login reads and changes the database',
    {
      [moveit]: [
        '< 2021.0.7',
        '>= 2021.1.0, < 2021.1.5',
        '>= 2022.0.0, < 2022.0.5',
        '>= 2022.1.0, < 2022.1.6',
        '>= 2023.0.0, < 2023.0.2',
      ],
    },
    { remedy: memory },
  ),
  cve('CVE-2024-5806', 'NLNN/U/HHN', 'The SFTP module can be passed without credentials', {
    [moveit]: ['>= 2023.0.0, < 2023.0.11', '>= 2023.1.0, < 2023.1.6', '>= 2024.0.0, < 2024.0.2'],
  }),
  cve(
    'CVE-2023-0669',
    'NLHN/U/HHH',
    'The licence servlet of the administration console deserialises objects and runs code',
    { [goanywhere]: ['< 7.1.2'] },
  ),
  cve('CVE-2024-0204', 'NLNN/U/HHH', 'Strangers create an administrator', { [goanywhere]: ['< 7.4.1'] }),
  cve('CVE-2025-10035', 'NLNN/C/HHH', 'A forged licence answer is deserialised and runs commands', {
    [goanywhere]: ['< 7.6.3', '>= 7.7.0, < 7.8.4'],
  }),
  cve('CVE-2025-31161', 'NLNN/U/HHH', 'The S3 authentication header logs strangers in as any user', {
    [crushftp]: ['>= 10.0.0, < 10.8.4', '>= 11.0.0, < 11.3.1'],
  }),
  cve('CVE-2024-12084', 'NLNN/U/HHH', 'A checksum length of the client overflows the heap of the daemon', {
    'a:samba:rsync': ['>= 3.2.7, < 3.4.0'],
  }),
  cve(
    'CVE-2024-12085',
    'NLNN/U/HNN',
    'A checksum length of the client makes the daemon leak its stack byte by byte',
    { 'a:samba:rsync': ['< 3.4.0'] },
  ),
];
