import { cve } from './entry.ts';

const routeros = 'o:mikrotik:routeros';

/** Routers, switches and small devices. */
export const networkDeviceCves = [
  cve(
    'CVE-2018-14847',
    'NLNN/U/HHN',
    'Winbox reads and writes any file without a login',
    { [routeros]: ['< 6.40.8', '>= 6.41, < 6.42.1'] },
    { remedy: 'Also change all passwords: they may have been read.' },
  ),
  cve(
    'CVE-2018-7445',
    'NLNN/U/HHH',
    'A NetBIOS session request overflows a buffer of the SMB service before any login',
    { [routeros]: ['< 6.40.7', '>= 6.41, < 6.41.3'] },
  ),
  cve('CVE-2019-3924', 'NLNN/U/HNN', 'Winbox lets strangers reach services behind the router', {
    [routeros]: ['< 6.42.12', '>= 6.43, < 6.43.12'],
  }),
  cve(
    'CVE-2019-3978',
    'NLNN/U/NHN',
    'Winbox makes the router ask DNS servers of strangers and keep what they say',
    { [routeros]: ['<= 6.44.5', '>= 6.45, <= 6.45.6'] },
  ),
  cve(
    'CVE-2023-20198',
    'NLNN/C/HHH',
    'The web interface creates an administrator for strangers',
    {
      'o:cisco:ios_xe': [
        '>= 16.12, < 16.12.10a',
        '>= 17.3, < 17.3.8a',
        '>= 17.6, < 17.6.6a',
        '>= 17.9, < 17.9.4a',
      ],
    },
    {
      remedy:
        'Until the update, switch ip http server and ip http secure-server off, and look for users that nobody made.',
    },
  ),
  cve('CVE-2023-20273', 'NLHN/U/HHH', 'The web interface runs commands of administrators as root', {
    'o:cisco:ios_xe': [
      '>= 16.12, < 16.12.10a',
      '>= 17.3, < 17.3.8a',
      '>= 17.6, < 17.6.6a',
      '>= 17.9, < 17.9.4a',
    ],
  }),
  cve('CVE-2020-3452', 'NLNN/U/HNN', 'The VPN web service gives away files of its own', {
    'o:cisco:adaptive_security_appliance_software': [
      '>= 9.6, < 9.6.4.42',
      '>= 9.8, < 9.8.4.20',
      '>= 9.9, < 9.9.2.74',
      '>= 9.10, < 9.10.1.42',
      '>= 9.12, < 9.12.3.12',
      '>= 9.13, < 9.13.1.10',
      '>= 9.14, < 9.14.1.10',
    ],
    'a:cisco:adaptive_security_appliance_software': [
      '>= 9.6, < 9.6.4.42',
      '>= 9.8, < 9.8.4.20',
      '>= 9.9, < 9.9.2.74',
      '>= 9.10, < 9.10.1.42',
      '>= 9.12, < 9.12.3.12',
      '>= 9.13, < 9.13.1.10',
      '>= 9.14, < 9.14.1.10',
    ],
  }),
  cve('CVE-2019-1653', 'NLNN/U/HNN', 'The web interface gives its configuration away', {
    'o:cisco:rv320_firmware': ['>= 1.4.2.15, <= 1.4.2.20'],
    'o:cisco:rv325_firmware': ['>= 1.4.2.15, <= 1.4.2.20'],
  }),
  cve('CVE-2017-12542', 'NLNN/C/HHH', 'A long Connection header makes anybody an administrator', {
    'o:hp:integrated_lights-out_4_firmware': ['< 2.53'],
  }),
  cve('CVE-2018-1207', 'NLNN/U/HHH', 'CGI parameters set the environment and run code', {
    'o:dell:idrac7_firmware': ['< 2.52.52.52'],
    'o:dell:idrac8_firmware': ['< 2.52.52.52'],
  }),
  cve('CVE-2023-1389', 'ALNN/U/HHH', 'The country setting runs commands of strangers', {
    'o:tp-link:archer_ax21_firmware': ['< 1.1.4'],
  }),
];
