import { cve, cvesOf } from './entry.ts';

const fortios = cvesOf('o:fortinet:fortios');
const netscaler = cvesOf('a:citrix:netscaler_application_delivery_controller', 'a:citrix:netscaler_gateway');
const bigIp = cvesOf(
  'a:f5:big-ip_local_traffic_manager',
  'a:f5:big-ip_access_policy_manager',
  'a:f5:big-ip_application_security_manager',
);
const connectSecure = cvesOf('a:ivanti:connect_secure');
const epmm = cvesOf('a:ivanti:endpoint_manager_mobile');
const fortiweb = cvesOf('a:fortinet:fortiweb');
const panOs = cvesOf('o:paloaltonetworks:pan-os');
const sfos = cvesOf('o:sophos:sfos');

/** Gateways, firewalls and remote access. */
export const vpnCves = [
  fortios('CVE-2018-13379', 'NLNN/U/HHH', ['>= 5.4.6, < 5.4.13', '>= 5.6.3, < 5.6.8', '>= 6.0.0, < 6.0.5'], {
    title: 'The VPN web portal gives away system files with the passwords of sessions',
    remedy: 'Also change the passwords of all users: they may have been read.',
  }),
  fortios('CVE-2020-12812', 'NLNN/U/HHH', ['< 6.0.10', '>= 6.2.0, < 6.2.4', '= 6.4.0'], {
    title: 'A user name in other letters passes the second factor',
  }),
  cve(
    'CVE-2022-40684',
    'NLNN/U/HHH',
    {
      'o:fortinet:fortios': ['>= 7.0.0, < 7.0.7', '>= 7.2.0, < 7.2.2'],
      'a:fortinet:fortiproxy': ['>= 7.0.0, < 7.0.7', '= 7.2.0'],
    },
    { title: 'Headers of a request make anybody an administrator' },
  ),
  fortios(
    'CVE-2022-42475',
    'NLNN/U/HHH',
    ['>= 6.2.0, < 6.2.12', '>= 6.4.0, < 6.4.11', '>= 7.0.0, < 7.0.9', '>= 7.2.0, < 7.2.3'],
    { title: 'Requests to the VPN overflow the heap and run code' },
  ),
  fortios(
    'CVE-2023-27997',
    'NLNN/U/HHH',
    [
      '>= 6.0.0, < 6.0.17',
      '>= 6.2.0, < 6.2.14',
      '>= 6.4.0, < 6.4.13',
      '>= 7.0.0, < 7.0.12',
      '>= 7.2.0, < 7.2.5',
    ],
    { title: 'Requests to the VPN overflow the heap before any login (XORtigate)' },
  ),
  fortios(
    'CVE-2024-21762',
    'NLNN/U/HHH',
    [
      '>= 6.0.0, < 6.2.16',
      '>= 6.4.0, < 6.4.15',
      '>= 7.0.0, < 7.0.14',
      '>= 7.2.0, < 7.2.7',
      '>= 7.4.0, < 7.4.3',
    ],
    {
      title: 'HTTP requests to the VPN write outside a buffer and run code',
      remedy: 'Until the update, switch the SSL VPN off.',
    },
  ),
  fortios('CVE-2024-23113', 'NLNN/U/HHH', ['>= 7.0.0, < 7.0.14', '>= 7.2.0, < 7.2.7', '>= 7.4.0, < 7.4.3'], {
    title: 'A format string in the management daemon runs code of strangers',
  }),
  cve(
    'CVE-2024-55591',
    'NLNN/U/HHH',
    {
      'o:fortinet:fortios': ['>= 7.0.0, < 7.0.17'],
      'a:fortinet:fortiproxy': ['>= 7.0.0, < 7.0.20', '>= 7.2.0, < 7.2.13'],
    },
    { title: 'A WebSocket request makes anybody an administrator' },
  ),
  cvesOf('a:fortinet:fortimanager')(
    'CVE-2024-47575',
    'NLNN/U/HHH',
    [
      '>= 6.2.0, < 6.2.13',
      '>= 6.4.0, < 6.4.15',
      '>= 7.0.0, < 7.0.13',
      '>= 7.2.0, < 7.2.8',
      '>= 7.4.0, < 7.4.5',
      '= 7.6.0',
    ],
    { title: 'Unregistered devices run commands on the manager (FortiJump)' },
  ),
  cvesOf('a:fortinet:forticlient_enterprise_management_server')(
    'CVE-2023-48788',
    'NLNN/U/HHH',
    ['>= 7.0.1, < 7.0.11', '>= 7.2.0, < 7.2.3'],
    { title: 'SQL injection runs commands as the system' },
  ),
  fortiweb(
    'CVE-2025-25257',
    'NLNN/U/HHH',
    ['>= 7.0.0, < 7.0.11', '>= 7.2.0, < 7.2.11', '>= 7.4.0, < 7.4.8', '>= 7.6.0, < 7.6.4'],
    { title: 'SQL injection in a header runs code of strangers' },
  ),
  fortiweb(
    'CVE-2025-64446',
    'NLNN/U/HHH',
    [
      '>= 7.0.0, < 7.0.12',
      '>= 7.2.0, < 7.2.12',
      '>= 7.4.0, < 7.4.10',
      '>= 7.6.0, < 7.6.5',
      '>= 8.0.0, < 8.0.2',
    ],
    { title: 'A path traversal makes anybody an administrator' },
  ),
  panOs(
    'CVE-2020-2021',
    'NLNN/C/HHH',
    ['>= 8.0.0, <= 8.0.20', '>= 8.1.0, < 8.1.15', '>= 9.0.0, < 9.0.9', '>= 9.1.0, < 9.1.3'],
    { title: 'SAML signatures are not checked where certificate validation is off' },
  ),
  panOs(
    'CVE-2017-15944',
    'NLNN/U/HHH',
    ['< 6.1.19', '>= 7.0.0, < 7.0.19', '>= 7.1.0, < 7.1.14', '>= 8.0.0, < 8.0.6'],
    { title: 'The management interface runs code of strangers' },
  ),
  panOs('CVE-2019-1579', 'NHNN/U/HHH', ['< 7.1.19', '>= 8.0.0, < 8.0.12', '>= 8.1.0, < 8.1.3'], {
    title: 'A format string in the GlobalProtect portal runs code of strangers',
  }),
  panOs(
    'CVE-2024-3400',
    'NLNN/C/HHH',
    [
      '= 10.2.0',
      '= 10.2.1',
      '= 10.2.2',
      '= 10.2.3',
      '= 10.2.4',
      '= 10.2.5',
      '= 10.2.6',
      '= 10.2.7',
      '= 10.2.8',
      '= 10.2.9',
      '= 11.0.0',
      '= 11.0.1',
      '= 11.0.2',
      '= 11.0.3',
      '= 11.0.4',
      '= 11.1.0',
      '= 11.1.1',
      '= 11.1.2',
    ],
    {
      title: 'A session cookie of GlobalProtect creates files and runs commands as root',
      updatesHidden: true,
      remedy: 'Install the hotfix for the release that is in use.',
    },
  ),
  netscaler(
    'CVE-2019-19781',
    'NLNN/U/HHH',
    [
      '>= 10.5, < 10.5-70.12',
      '>= 11.1, < 11.1-63.15',
      '>= 12.0, < 12.0-63.13',
      '>= 12.1, < 12.1-55.18',
      '>= 13.0, < 13.0-47.24',
    ],
    { title: 'A path traversal runs code of strangers' },
  ),
  netscaler('CVE-2023-3519', 'NLNN/U/HHH', ['>= 13.0, < 13.0-91.13', '>= 13.1, < 13.1-49.13'], {
    title: 'Gateways and authentication servers run code of strangers',
  }),
  netscaler(
    'CVE-2023-4966',
    'NLNN/U/HNN',
    ['>= 13.0, < 13.0-92.19', '>= 13.1, < 13.1-49.15', '>= 14.1, < 14.1-8.50'],
    {
      title: 'Requests to a gateway read memory with the sessions of users (CitrixBleed)',
      remedy: 'End all sessions after the update: their tokens may have been read.',
    },
  ),
  netscaler('CVE-2025-5777', 'NLNN/U/HNN', ['>= 13.1, < 13.1-58.32', '>= 14.1, < 14.1-43.56'], {
    title: 'Login requests to a gateway read memory with the sessions of users (CitrixBleed 2)',
    remedy: 'End all sessions after the update: their tokens may have been read.',
  }),
  netscaler('CVE-2025-6543', 'NLNN/U/HHH', ['>= 13.1, < 13.1-59.19', '>= 14.1, < 14.1-47.46'], {
    title: 'Requests to a gateway overflow memory',
  }),
  bigIp(
    'CVE-2020-5902',
    'NLNN/U/HHH',
    [
      '>= 11.6.1, < 11.6.5.2',
      '>= 12.1.0, < 12.1.5.2',
      '>= 13.1.0, < 13.1.3.4',
      '>= 14.1.0, < 14.1.2.6',
      '>= 15.0.0, < 15.1.0.4',
    ],
    { title: 'The traffic management interface runs commands of strangers' },
  ),
  bigIp(
    'CVE-2021-22986',
    'NLNN/U/HHH',
    [
      '>= 12.1.0, < 12.1.5.3',
      '>= 13.1.0, < 13.1.3.6',
      '>= 14.1.0, < 14.1.4',
      '>= 15.1.0, < 15.1.2.1',
      '>= 16.0.0, < 16.0.1.1',
    ],
    { title: 'The REST interface runs commands of strangers' },
  ),
  bigIp(
    'CVE-2022-1388',
    'NLNN/U/HHH',
    [
      '>= 11.6.1, <= 11.6.5',
      '>= 12.1.0, <= 12.1.6',
      '>= 13.1.0, < 13.1.5',
      '>= 14.1.0, < 14.1.4.6',
      '>= 15.1.0, < 15.1.5.1',
      '>= 16.1.0, < 16.1.2.2',
    ],
    { title: 'A Connection header passes the authentication of the REST interface' },
  ),
  cvesOf('a:pulsesecure:pulse_connect_secure', 'a:ivanti:connect_secure')(
    'CVE-2019-11510',
    'NLNN/C/HHH',
    ['>= 8.2r1, < 8.2r12.1', '>= 8.3r1, < 8.3r7.1', '>= 9.0r1, < 9.0r3.4'],
    {
      title: 'Any file can be read without a login, those with passwords among them',
      remedy: 'Also change the passwords of all users: they may have been read.',
    },
  ),
  connectSecure('CVE-2025-0282', 'NHNN/C/HHH', ['>= 22.7r2, < 22.7r2.5'], {
    title: 'Requests before the login overflow the stack and run code',
  }),
  connectSecure('CVE-2025-22457', 'NHNN/C/HHH', ['< 22.7r2.6'], {
    title: 'A long X-Forwarded-For header overflows the stack and runs code',
  }),
  epmm('CVE-2023-35078', 'NLNN/U/HHH', ['< 11.8.1.1', '>= 11.9.0, < 11.9.1.1', '>= 11.10.0, < 11.10.0.2'], {
    title: 'Paths of the interface pass the authentication',
  }),
  epmm(
    'CVE-2025-4428',
    'NLHN/U/HHH',
    ['< 11.12.0.5', '>= 12.3.0.0, < 12.3.0.2', '>= 12.4.0.0, < 12.4.0.2', '>= 12.5.0.0, < 12.5.0.1'],
    { title: 'Requests to the interface run code; with CVE-2025-4427 no login is needed' },
  ),
  sfos('CVE-2022-1040', 'NLNN/U/HHH', ['<= 18.5.3'], {
    title: 'The user portal and the administration run code of strangers',
    updatesHidden: true,
    remedy: 'Check that the hotfix of the vendor is installed.',
  }),
  sfos('CVE-2022-3236', 'NLNN/U/HHH', ['<= 19.0.1'], {
    title: 'The user portal and the administration run code of strangers',
    updatesHidden: true,
    remedy: 'Check that the hotfix of the vendor is installed.',
  }),
];
