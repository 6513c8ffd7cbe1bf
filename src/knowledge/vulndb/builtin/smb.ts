import { cvesOf } from './entry.ts';

const samba = cvesOf('a:samba:samba');
const netatalk = cvesOf('a:netatalk:netatalk');
const patchLevel =
  'The name of the system does not tell its updates: check that the update for this flaw is installed.';

/** File and desktop services of Windows, Samba and related servers. */
export const smbCves = [
  samba('CVE-2017-7494', 'NLNN/U/HHH', ['>= 3.5.0, < 4.4.14', '>= 4.5.0, < 4.5.10', '>= 4.6.0, < 4.6.4'], {
    title: 'A library uploaded to a writable share is loaded and run (SambaCry)',
    remedy: 'Until the update, nt pipe support = no in smb.conf.',
  }),
  samba('CVE-2021-44142', 'NLLN/U/HHH', ['< 4.13.17', '>= 4.14.0, < 4.14.12', '>= 4.15.0, < 4.15.5'], {
    title: 'Extended attributes overflow the heap where vfs_fruit is loaded',
    remedy: 'Until the update, take fruit out of the vfs objects.',
  }),
  samba('CVE-2016-2118', 'NHNR/U/HHH', ['>= 3.6.0, < 4.2.10', '>= 4.3.0, < 4.3.7', '= 4.4.0'], {
    title: 'Somebody on the path takes over a session to the account database (Badlock)',
  }),
  samba(
    'CVE-2025-10230',
    'NLNN/C/HHH',
    ['>= 4.0.0, < 4.21.9', '>= 4.22.0, < 4.22.5', '>= 4.23.0, < 4.23.2'],
    {
      title: 'A NetBIOS name reaches a shell where a WINS hook is set on a domain controller',
      remedy: 'Only domain controllers with wins support and a wins hook are reachable by it.',
    },
  ),
  netatalk('CVE-2018-1160', 'NLNN/U/HHH', ['< 3.1.12'], {
    title: 'A session option of strangers writes outside its buffer and runs code',
  }),
  netatalk('CVE-2022-23121', 'NLNN/U/HHH', ['< 3.1.13'], {
    title: 'AppleDouble entries are parsed without a check and run code',
  }),
  cvesOf(
    'o:microsoft:windows_7',
    'o:microsoft:windows_server_2008',
    'o:microsoft:windows_xp',
    'o:microsoft:windows_server_2003',
  )('CVE-2019-0708', 'NLNN/U/HHH', ['*'], {
    title: 'The remote desktop service runs code of strangers (BlueKeep)',
    remedy: patchLevel,
  }),
  cvesOf(
    'o:microsoft:windows_10_1903',
    'o:microsoft:windows_10_1909',
    'o:microsoft:windows_server_1903',
    'o:microsoft:windows_server_1909',
  )('CVE-2020-0796', 'NLNN/C/HHH', ['*'], {
    title: 'Compressed messages of SMB 3.1.1 run code of strangers (SMBGhost)',
    remedy: patchLevel,
  }),
  cvesOf(
    'o:microsoft:windows_7',
    'o:microsoft:windows_server_2008',
    'o:microsoft:windows_server_2012',
    'o:microsoft:windows_xp',
    'o:microsoft:windows_server_2003',
  )('CVE-2017-0144', 'NHNN/U/HHH', ['*'], {
    title: 'Messages of SMBv1 run code of strangers (EternalBlue)',
    remedy: `${patchLevel} Switch SMBv1 off.`,
  }),
];
