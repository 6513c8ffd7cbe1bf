import { cve } from './entry.ts';

const jenkins = 'a:jenkins:jenkins';
const gitlab = 'a:gitlab:gitlab';
const teamcity = 'a:jetbrains:teamcity';
const grafana = 'a:grafana:grafana';
const webmin = 'a:webmin:webmin';
const vcenter = 'a:vmware:vcenter_server';
const papercut = ['a:papercut:papercut_mf', 'a:papercut:papercut_ng'];

const each = (products: readonly string[], ranges: readonly string[]) =>
  Object.fromEntries(products.map((product) => [product, ranges]));

/** Build, monitoring and administration tools. */
export const managementCves = [
  cve(
    'CVE-2024-23897',
    'NLNN/U/HHH',
    'The command line interface reads files of the controller for strangers',
    { [jenkins]: ['< 2.426.3', '>= 2.427, < 2.440', '= 2.440', '= 2.441'] },
    { remedy: 'Until the update, switch the command line interface off.' },
  ),
  cve('CVE-2018-1000861', 'NLNN/U/HHH', 'Addresses call methods of the program and run code', {
    [jenkins]: ['< 2.138.4', '>= 2.139, < 2.150', '>= 2.151, < 2.154'],
  }),
  cve(
    'CVE-2017-1000353',
    'NLNN/U/HHH',
    'The command line interface deserialises objects of strangers and runs code',
    { [jenkins]: ['< 2.46.2', '>= 2.47, < 2.57'] },
  ),
  cve('CVE-2021-22205', 'NLNN/C/HHH', 'An uploaded image runs commands of strangers', {
    [gitlab]: ['>= 11.9.0, < 13.8.8', '>= 13.9.0, < 13.9.6', '>= 13.10.0, < 13.10.3'],
  }),
  cve('CVE-2023-7028', 'NLNN/U/HNN', 'Mails to reset a password go to an address of the attacker too', {
    [gitlab]: [
      '>= 16.1.0, < 16.1.6',
      '>= 16.2.0, < 16.2.9',
      '>= 16.3.0, < 16.3.7',
      '>= 16.4.0, < 16.4.5',
      '>= 16.5.0, < 16.5.6',
      '>= 16.6.0, < 16.6.4',
      '>= 16.7.0, < 16.7.2',
    ],
  }),
  cve('CVE-2023-2825', 'NLNN/U/HNN', 'An attachment in a nested project reads any file', {
    [gitlab]: ['= 16.0.0'],
  }),
  cve('CVE-2024-27198', 'NLNN/U/HHH', 'Paths pass the authentication and make anybody an administrator', {
    [teamcity]: ['< 2023.11.4'],
  }),
  cve('CVE-2024-27199', 'NLNN/U/LLL', 'Paths pass the authentication of some settings', {
    [teamcity]: ['< 2023.11.4'],
  }),
  cve('CVE-2023-42793', 'NLNN/U/HHH', 'Paths pass the authentication and give a token of an administrator', {
    [teamcity]: ['< 2023.05.4'],
  }),
  cve('CVE-2021-43798', 'NLNN/U/HNN', 'Addresses of plugins read any file', {
    [grafana]: ['>= 8.0.0, < 8.0.7', '>= 8.1.0, < 8.1.8', '>= 8.2.0, < 8.2.7', '= 8.3.0'],
  }),
  cve('CVE-2021-39226', 'NLNN/U/LLL', 'Snapshots can be seen and deleted without a login', {
    [grafana]: ['< 7.5.11', '>= 8.0.0, < 8.1.6'],
  }),
  cve('CVE-2020-13379', 'NLNN/U/LNH', 'The avatar function fetches any address for strangers', {
    [grafana]: ['>= 3.0.1, < 6.7.4', '>= 7.0.0, < 7.0.2'],
  }),
  cve('CVE-2023-3128', 'NLNN/U/HHH', 'A mail address in a token of Azure AD takes over accounts', {
    [grafana]: [
      '>= 6.7.0, < 8.5.27',
      '>= 9.2.0, < 9.2.20',
      '>= 9.3.0, < 9.3.16',
      '>= 9.4.0, < 9.4.13',
      '>= 9.5.0, < 9.5.5',
      '= 10.0.0',
    ],
  }),
  cve('CVE-2019-15107', 'NLNN/U/HHH', 'The password change page runs commands of strangers', {
    [webmin]: ['<= 1.920'],
  }),
  cve('CVE-2019-12840', 'NLLN/U/HHH', 'Users with the package update module run commands as root', {
    [webmin]: ['<= 1.910'],
  }),
  cve('CVE-2022-0824', 'NLLN/U/HHH', 'Any user reaches the file manager and runs code', {
    [webmin]: ['< 1.990'],
  }),
  cve('CVE-2022-36446', 'NLNN/U/HHH', 'Names of packages reach a shell', { [webmin]: ['< 1.997'] }),
  cve(
    'CVE-2021-21972',
    'NLNN/U/HHH',
    'A plugin of the vSphere client stores files of strangers and runs them',
    { [vcenter]: ['>= 7.0.0, < 7.0.1'] },
  ),
  cve(
    'CVE-2021-21985',
    'NLNN/U/HHH',
    'The health check plugin of the vSphere client runs code of strangers',
    { [vcenter]: ['>= 7.0.0, < 7.0.2'] },
  ),
  cve('CVE-2021-22005', 'NLNN/U/HHH', 'The analytics service stores files of strangers and runs them', {
    [vcenter]: ['>= 7.0.0, < 7.0.2'],
  }),
  cve('CVE-2023-34048', 'NLNN/U/HHH', 'DCERPC messages write outside a buffer and run code', {
    [vcenter]: ['>= 7.0.0, < 7.0.3', '>= 8.0.0, < 8.0.1'],
  }),
  cve('CVE-2024-38812', 'NLNN/U/HHH', 'DCERPC messages overflow the heap and run code', {
    [vcenter]: ['>= 7.0.0, < 7.0.3', '>= 8.0.0, < 8.0.2'],
  }),
  cve(
    'CVE-2022-22954',
    'NLNN/U/HHH',
    'A template in a parameter runs code of strangers',
    { 'a:vmware:workspace_one_access': ['= 20.10.0.0', '= 20.10.0.1', '= 21.08.0.0', '= 21.08.0.1'] },
    { updatesHidden: true, remedy: 'Check that the hotfix of the vendor is installed.' },
  ),
  cve(
    'CVE-2024-1709',
    'NLNN/C/HHH',
    'The setup wizard can be opened again and makes anybody an administrator',
    { 'a:connectwise:screenconnect': ['< 23.9.8'] },
  ),
  cve('CVE-2024-1708', 'NLHR/C/HHH', 'Extensions are unpacked outside their folder and run code', {
    'a:connectwise:screenconnect': ['< 23.9.8'],
  }),
  cve('CVE-2024-40711', 'NLNN/U/HHH', 'Objects of strangers are deserialised and run code', {
    'a:veeam:veeam_backup_&_replication': ['< 12.2.0.334'],
  }),
  cve(
    'CVE-2023-27350',
    'NLNN/U/HHH',
    'The setup page logs strangers in, who then run scripts as the system',
    each(papercut, ['>= 8.0.0, < 20.1.7', '>= 21.0.0, < 21.2.11', '>= 22.0.0, < 22.0.9']),
  ),
  cve('CVE-2023-32315', 'NLNN/U/HNN', 'Encoded dots in a path reach the administration console', {
    'a:igniterealtime:openfire': ['>= 3.10.0, < 4.6.8', '>= 4.7.0, < 4.7.5'],
  }),
  cve('CVE-2019-7238', 'NLNN/U/HHH', 'A search expression runs code of strangers', {
    'a:sonatype:nexus': ['< 3.15.0'],
    'a:sonatype:nexus_repository_manager': ['>= 3.0.0, < 3.15.0'],
  }),
  cve('CVE-2020-10199', 'NLLN/U/HHH', 'Expressions in a field run code of any user', {
    'a:sonatype:nexus': ['< 3.21.2'],
    'a:sonatype:nexus_repository_manager': ['>= 3.0.0, < 3.21.2'],
  }),
  cve('CVE-2024-4956', 'NLNN/U/HNN', 'A path traversal reads any file', {
    'a:sonatype:nexus_repository_manager': ['>= 3.0.0, < 3.68.1'],
  }),
  cve('CVE-2022-46169', 'NLNN/U/HHH', 'The remote agent believes a header and runs commands of strangers', {
    'a:cacti:cacti': ['< 1.2.23'],
  }),
  cve(
    'CVE-2022-23131',
    'NLNN/U/HHH',
    'A session cookie that nobody signed logs strangers in by SAML',
    { 'a:zabbix:zabbix': ['>= 5.4.0, < 5.4.9'] },
    { remedy: 'Only installations with SAML login are reachable by it.' },
  ),
  cve(
    'CVE-2018-9276',
    'NLHN/U/HHH',
    'Administrators run commands of the system by sensors and notifications',
    { 'a:paessler:prtg_network_monitor': ['< 18.2.39'] },
  ),
  cve('CVE-2020-11651', 'NLNN/U/HHH', 'The request server of the master runs methods for strangers', {
    'a:saltstack:salt': ['< 2019.2.4', '>= 3000, < 3000.2'],
  }),
  cve('CVE-2020-11652', 'NLLN/U/HNN', 'Paths reach any file of the master', {
    'a:saltstack:salt': ['< 2019.2.4', '>= 3000, < 3000.2'],
  }),
  cve(
    'CVE-2018-1002105',
    'NLNN/U/HHH',
    'An upgraded connection through the API server keeps its rights for further requests',
    { 'a:kubernetes:kubernetes': ['>= 1.0.0, < 1.10.11', '>= 1.11.0, < 1.11.5', '>= 1.12.0, < 1.12.3'] },
  ),
  cve(
    'CVE-2019-14271',
    'NLNN/U/HHH',
    'docker cp loads a library of the container and runs its code outside',
    { 'a:docker:docker': ['= 19.03.0'] },
  ),
  cve('CVE-2023-38646', 'NLNN/U/HHH', 'The setup token can be used again and runs commands of strangers', {
    'a:metabase:metabase': [
      '< 0.43.7.2',
      '>= 0.44.0, < 0.44.7.1',
      '>= 0.45.0, < 0.45.4.1',
      '>= 0.46.0, < 0.46.6.1',
    ],
  }),
  cve('CVE-2025-3248', 'NLNN/U/HHH', 'The code check runs code of strangers', {
    'a:langflow:langflow': ['< 1.3.0'],
  }),
  cve('CVE-2024-2044', 'NLLN/C/HHH', "Session files of a user's making are deserialised and run code", {
    'a:pgadmin:pgadmin_4': ['< 8.4'],
  }),
  cve('CVE-2025-57819', 'NLNN/U/HHH', 'Strangers reach the administrator, change the database and run code', {
    'a:sangoma:freepbx': ['>= 15.0.0, < 15.0.66', '>= 16.0.0, < 16.0.89', '>= 17.0.0, < 17.0.3'],
  }),
  cve('CVE-2020-5741', 'NLHN/U/HHH', 'Administrators run Python code of their own', {
    'a:plex:media_server': ['< 1.19.3'],
  }),
  cve('CVE-2023-28366', 'NLNN/U/NNH', 'Repeated message numbers use up the memory of the broker', {
    'a:eclipse:mosquitto': ['>= 1.3.2, < 2.0.16'],
  }),
  cve(
    'CVE-2018-18820',
    'NHNN/U/HHH',
    'Headers of a listener overflow a buffer of the address authentication',
    { 'a:xiph:icecast': ['>= 2.4.0, < 2.4.4'] },
  ),
  cve('CVE-2018-5702', 'NLNR/U/HHH', 'Web pages reach the control interface by a changed DNS answer', {
    'a:transmissionbt:transmission': ['<= 2.92'],
  }),
];
