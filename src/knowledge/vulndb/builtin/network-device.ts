import { cvesOf } from './entry.ts';

const routeros = cvesOf('o:mikrotik:routeros');
const iosXe = cvesOf('o:cisco:ios_xe');

/** Routers, switches and small devices. */
export const networkDeviceCves = [
  routeros('CVE-2018-14847', 'NLNN/U/HHN', ['< 6.40.8', '>= 6.41, < 6.42.1'], {
    title: 'Winbox reads and writes any file without a login',
    remedy: 'Also change all passwords: they may have been read.',
  }),
  routeros('CVE-2018-7445', 'NLNN/U/HHH', ['< 6.40.7', '>= 6.41, < 6.41.3'], {
    title: 'A NetBIOS session request overflows a buffer of the SMB service before any login',
  }),
  routeros('CVE-2019-3924', 'NLNN/U/HNN', ['< 6.42.12', '>= 6.43, < 6.43.12'], {
    title: 'Winbox lets strangers reach services behind the router',
  }),
  routeros('CVE-2019-3978', 'NLNN/U/NHN', ['<= 6.44.5', '>= 6.45, <= 6.45.6'], {
    title: 'Winbox makes the router ask DNS servers of strangers and keep what they say',
  }),
  iosXe(
    'CVE-2023-20198',
    'NLNN/C/HHH',
    ['>= 16.12, < 16.12.10a', '>= 17.3, < 17.3.8a', '>= 17.6, < 17.6.6a', '>= 17.9, < 17.9.4a'],
    {
      title: 'The web interface creates an administrator for strangers',
      remedy:
        'Until the update, switch ip http server and ip http secure-server off, and look for users that nobody made.',
    },
  ),
  iosXe(
    'CVE-2023-20273',
    'NLHN/U/HHH',
    ['>= 16.12, < 16.12.10a', '>= 17.3, < 17.3.8a', '>= 17.6, < 17.6.6a', '>= 17.9, < 17.9.4a'],
    { title: 'The web interface runs commands of administrators as root' },
  ),
  cvesOf('o:cisco:adaptive_security_appliance_software', 'a:cisco:adaptive_security_appliance_software')(
    'CVE-2020-3452',
    'NLNN/U/HNN',
    [
      '>= 9.6, < 9.6.4.42',
      '>= 9.8, < 9.8.4.20',
      '>= 9.9, < 9.9.2.74',
      '>= 9.10, < 9.10.1.42',
      '>= 9.12, < 9.12.3.12',
      '>= 9.13, < 9.13.1.10',
      '>= 9.14, < 9.14.1.10',
    ],
    { title: 'The VPN web service gives away files of its own' },
  ),
  cvesOf('o:cisco:rv320_firmware', 'o:cisco:rv325_firmware')(
    'CVE-2019-1653',
    'NLNN/U/HNN',
    ['>= 1.4.2.15, <= 1.4.2.20'],
    { title: 'The web interface gives its configuration away' },
  ),
  cvesOf('o:hp:integrated_lights-out_4_firmware')('CVE-2017-12542', 'NLNN/C/HHH', ['< 2.53'], {
    title: 'A long Connection header makes anybody an administrator',
  }),
  cvesOf('o:dell:idrac7_firmware', 'o:dell:idrac8_firmware')(
    'CVE-2018-1207',
    'NLNN/U/HHH',
    ['< 2.52.52.52'],
    {
      title: 'CGI parameters set the environment and run code',
    },
  ),
  cvesOf('o:tp-link:archer_ax21_firmware')('CVE-2023-1389', 'ALNN/U/HHH', ['< 1.1.4'], {
    title: 'The country setting runs commands of strangers',
  }),
];
