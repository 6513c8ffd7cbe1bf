import { cve } from './entry.ts';

const samba = 'a:samba:samba';
const netatalk = 'a:netatalk:netatalk';
const patchLevel =
  'The name of the system does not tell its updates: check that the update for this flaw is installed.';

/** File and desktop services of Windows, Samba and related servers. */
export const smbCves = [
  cve(
    'CVE-2017-7494',
    'NLNN/U/HHH',
    'A library uploaded to a writable share is loaded and run (SambaCry)',
    { [samba]: ['>= 3.5.0, < 4.4.14', '>= 4.5.0, < 4.5.10', '>= 4.6.0, < 4.6.4'] },
    { remedy: 'Until the update, nt pipe support = no in smb.conf.' },
  ),
  cve(
    'CVE-2021-44142',
    'NLLN/U/HHH',
    'Extended attributes overflow the heap where vfs_fruit is loaded',
    { [samba]: ['< 4.13.17', '>= 4.14.0, < 4.14.12', '>= 4.15.0, < 4.15.5'] },
    { remedy: 'Until the update, take fruit out of the vfs objects.' },
  ),
  cve(
    'CVE-2016-2118',
    'NHNR/U/HHH',
    'Somebody on the path takes over a session to the account database (Badlock)',
    { [samba]: ['>= 3.6.0, < 4.2.10', '>= 4.3.0, < 4.3.7', '= 4.4.0'] },
  ),
  cve(
    'CVE-2025-10230',
    'NLNN/C/HHH',
    'A NetBIOS name reaches a shell where a WINS hook is set on a domain controller',
    { [samba]: ['>= 4.0.0, < 4.21.9', '>= 4.22.0, < 4.22.5', '>= 4.23.0, < 4.23.2'] },
    { remedy: 'Only domain controllers with wins support and a wins hook are reachable by it.' },
  ),
  cve(
    'CVE-2018-1160',
    'NLNN/U/HHH',
    'A session option of strangers writes outside its buffer and runs code',
    { [netatalk]: ['< 3.1.12'] },
  ),
  cve('CVE-2022-23121', 'NLNN/U/HHH', 'AppleDouble entries are parsed without a check and run code', {
    [netatalk]: ['< 3.1.13'],
  }),
  cve(
    'CVE-2019-0708',
    'NLNN/U/HHH',
    'The remote desktop service runs code of strangers (BlueKeep)',
    {
      'o:microsoft:windows_7': ['*'],
      'o:microsoft:windows_server_2008': ['*'],
      'o:microsoft:windows_xp': ['*'],
      'o:microsoft:windows_server_2003': ['*'],
    },
    { remedy: patchLevel },
  ),
  cve(
    'CVE-2020-0796',
    'NLNN/C/HHH',
    'Compressed messages of SMB 3.1.1 run code of strangers (SMBGhost)',
    {
      'o:microsoft:windows_10_1903': ['*'],
      'o:microsoft:windows_10_1909': ['*'],
      'o:microsoft:windows_server_1903': ['*'],
      'o:microsoft:windows_server_1909': ['*'],
    },
    { remedy: patchLevel },
  ),
  cve(
    'CVE-2017-0144',
    'NHNN/U/HHH',
    'Messages of SMBv1 run code of strangers (EternalBlue)',
    {
      'o:microsoft:windows_7': ['*'],
      'o:microsoft:windows_server_2008': ['*'],
      'o:microsoft:windows_server_2012': ['*'],
      'o:microsoft:windows_xp': ['*'],
      'o:microsoft:windows_server_2003': ['*'],
    },
    { remedy: `${patchLevel} Switch SMBv1 off.` },
  ),
];
