import { cve, cvesOf } from './entry.ts';

const jenkins = cvesOf('a:jenkins:jenkins');
const gitlab = cvesOf('a:gitlab:gitlab');
const teamcity = cvesOf('a:jetbrains:teamcity');
const grafana = cvesOf('a:grafana:grafana');
const webmin = cvesOf('a:webmin:webmin');
const vcenter = cvesOf('a:vmware:vcenter_server');
const papercut = cvesOf('a:papercut:papercut_mf', 'a:papercut:papercut_ng');
const screenConnect = cvesOf('a:connectwise:screenconnect');
const salt = cvesOf('a:saltstack:salt');

/** Build, monitoring and administration tools. */
export const managementCves = [
  jenkins('CVE-2024-23897', 'NLNN/U/HHH', ['< 2.426.3', '>= 2.427, < 2.440', '= 2.440', '= 2.441'], {
    title: 'The command line interface reads files of the controller for strangers',
    remedy: 'Until the update, switch the command line interface off.',
  }),
  jenkins('CVE-2018-1000861', 'NLNN/U/HHH', ['< 2.138.4', '>= 2.139, < 2.150', '>= 2.151, < 2.154'], {
    title: 'Addresses call methods of the program and run code',
  }),
  jenkins('CVE-2017-1000353', 'NLNN/U/HHH', ['< 2.46.2', '>= 2.47, < 2.57'], {
    title: 'The command line interface deserialises objects of strangers and runs code',
  }),
  gitlab(
    'CVE-2021-22205',
    'NLNN/C/HHH',
    ['>= 11.9.0, < 13.8.8', '>= 13.9.0, < 13.9.6', '>= 13.10.0, < 13.10.3'],
    { title: 'An uploaded image runs commands of strangers' },
  ),
  gitlab(
    'CVE-2023-7028',
    'NLNN/U/HNN',
    [
      '>= 16.1.0, < 16.1.6',
      '>= 16.2.0, < 16.2.9',
      '>= 16.3.0, < 16.3.7',
      '>= 16.4.0, < 16.4.5',
      '>= 16.5.0, < 16.5.6',
      '>= 16.6.0, < 16.6.4',
      '>= 16.7.0, < 16.7.2',
    ],
    { title: 'Mails to reset a password go to an address of the attacker too' },
  ),
  gitlab('CVE-2023-2825', 'NLNN/U/HNN', ['= 16.0.0'], {
    title: 'An attachment in a nested project reads any file',
  }),
  teamcity('CVE-2024-27198', 'NLNN/U/HHH', ['< 2023.11.4'], {
    title: 'Paths pass the authentication and make anybody an administrator',
  }),
  teamcity('CVE-2024-27199', 'NLNN/U/LLL', ['< 2023.11.4'], {
    title: 'Paths pass the authentication of some settings',
  }),
  teamcity('CVE-2023-42793', 'NLNN/U/HHH', ['< 2023.05.4'], {
    title: 'Paths pass the authentication and give a token of an administrator',
  }),
  grafana(
    'CVE-2021-43798',
    'NLNN/U/HNN',
    ['>= 8.0.0, < 8.0.7', '>= 8.1.0, < 8.1.8', '>= 8.2.0, < 8.2.7', '= 8.3.0'],
    { title: 'Addresses of plugins read any file' },
  ),
  grafana('CVE-2021-39226', 'NLNN/U/LLL', ['< 7.5.11', '>= 8.0.0, < 8.1.6'], {
    title: 'Snapshots can be seen and deleted without a login',
  }),
  grafana('CVE-2020-13379', 'NLNN/U/LNH', ['>= 3.0.1, < 6.7.4', '>= 7.0.0, < 7.0.2'], {
    title: 'The avatar function fetches any address for strangers',
  }),
  grafana(
    'CVE-2023-3128',
    'NLNN/U/HHH',
    [
      '>= 6.7.0, < 8.5.27',
      '>= 9.2.0, < 9.2.20',
      '>= 9.3.0, < 9.3.16',
      '>= 9.4.0, < 9.4.13',
      '>= 9.5.0, < 9.5.5',
      '= 10.0.0',
    ],
    { title: 'A mail address in a token of Azure AD takes over accounts' },
  ),
  webmin('CVE-2019-15107', 'NLNN/U/HHH', ['<= 1.920'], {
    title: 'The password change page runs commands of strangers',
  }),
  webmin('CVE-2019-12840', 'NLLN/U/HHH', ['<= 1.910'], {
    title: 'Users with the package update module run commands as root',
  }),
  webmin('CVE-2022-0824', 'NLLN/U/HHH', ['< 1.990'], {
    title: 'Any user reaches the file manager and runs code',
  }),
  webmin('CVE-2022-36446', 'NLNN/U/HHH', ['< 1.997'], { title: 'Names of packages reach a shell' }),
  vcenter('CVE-2021-21972', 'NLNN/U/HHH', ['>= 7.0.0, < 7.0.1'], {
    title: 'A plugin of the vSphere client stores files of strangers and runs them',
  }),
  vcenter('CVE-2021-21985', 'NLNN/U/HHH', ['>= 7.0.0, < 7.0.2'], {
    title: 'The health check plugin of the vSphere client runs code of strangers',
  }),
  vcenter('CVE-2021-22005', 'NLNN/U/HHH', ['>= 7.0.0, < 7.0.2'], {
    title: 'The analytics service stores files of strangers and runs them',
  }),
  vcenter('CVE-2023-34048', 'NLNN/U/HHH', ['>= 7.0.0, < 7.0.3', '>= 8.0.0, < 8.0.1'], {
    title: 'DCERPC messages write outside a buffer and run code',
  }),
  vcenter('CVE-2024-38812', 'NLNN/U/HHH', ['>= 7.0.0, < 7.0.3', '>= 8.0.0, < 8.0.2'], {
    title: 'DCERPC messages overflow the heap and run code',
  }),
  cvesOf('a:vmware:workspace_one_access')(
    'CVE-2022-22954',
    'NLNN/U/HHH',
    ['= 20.10.0.0', '= 20.10.0.1', '= 21.08.0.0', '= 21.08.0.1'],
    {
      title: 'A template in a parameter runs code of strangers',
      updatesHidden: true,
      remedy: 'Check that the hotfix of the vendor is installed.',
    },
  ),
  screenConnect('CVE-2024-1709', 'NLNN/C/HHH', ['< 23.9.8'], {
    title: 'The setup wizard can be opened again and makes anybody an administrator',
  }),
  screenConnect('CVE-2024-1708', 'NLHR/C/HHH', ['< 23.9.8'], {
    title: 'Extensions are unpacked outside their folder and run code',
  }),
  cvesOf('a:veeam:veeam_backup_&_replication')('CVE-2024-40711', 'NLNN/U/HHH', ['< 12.2.0.334'], {
    title: 'Objects of strangers are deserialised and run code',
  }),
  papercut(
    'CVE-2023-27350',
    'NLNN/U/HHH',
    ['>= 8.0.0, < 20.1.7', '>= 21.0.0, < 21.2.11', '>= 22.0.0, < 22.0.9'],
    { title: 'The setup page logs strangers in, who then run scripts as the system' },
  ),
  cvesOf('a:igniterealtime:openfire')(
    'CVE-2023-32315',
    'NLNN/U/HNN',
    ['>= 3.10.0, < 4.6.8', '>= 4.7.0, < 4.7.5'],
    { title: 'Encoded dots in a path reach the administration console' },
  ),
  cve(
    'CVE-2019-7238',
    'NLNN/U/HHH',
    { 'a:sonatype:nexus': ['< 3.15.0'], 'a:sonatype:nexus_repository_manager': ['>= 3.0.0, < 3.15.0'] },
    { title: 'A search expression runs code of strangers' },
  ),
  cve(
    'CVE-2020-10199',
    'NLLN/U/HHH',
    { 'a:sonatype:nexus': ['< 3.21.2'], 'a:sonatype:nexus_repository_manager': ['>= 3.0.0, < 3.21.2'] },
    { title: 'Expressions in a field run code of any user' },
  ),
  cvesOf('a:sonatype:nexus_repository_manager')('CVE-2024-4956', 'NLNN/U/HNN', ['>= 3.0.0, < 3.68.1'], {
    title: 'A path traversal reads any file',
  }),
  cvesOf('a:cacti:cacti')('CVE-2022-46169', 'NLNN/U/HHH', ['< 1.2.23'], {
    title: 'The remote agent believes a header and runs commands of strangers',
  }),
  cvesOf('a:zabbix:zabbix')('CVE-2022-23131', 'NLNN/U/HHH', ['>= 5.4.0, < 5.4.9'], {
    title: 'A session cookie that nobody signed logs strangers in by SAML',
    remedy: 'Only installations with SAML login are reachable by it.',
  }),
  cvesOf('a:paessler:prtg_network_monitor')('CVE-2018-9276', 'NLHN/U/HHH', ['< 18.2.39'], {
    title: 'Administrators run commands of the system by sensors and notifications',
  }),
  salt('CVE-2020-11651', 'NLNN/U/HHH', ['< 2019.2.4', '>= 3000, < 3000.2'], {
    title: 'The request server of the master runs methods for strangers',
  }),
  salt('CVE-2020-11652', 'NLLN/U/HNN', ['< 2019.2.4', '>= 3000, < 3000.2'], {
    title: 'Paths reach any file of the master',
  }),
  cvesOf('a:kubernetes:kubernetes')(
    'CVE-2018-1002105',
    'NLNN/U/HHH',
    ['>= 1.0.0, < 1.10.11', '>= 1.11.0, < 1.11.5', '>= 1.12.0, < 1.12.3'],
    { title: 'An upgraded connection through the API server keeps its rights for further requests' },
  ),
  cvesOf('a:docker:docker')('CVE-2019-14271', 'NLNN/U/HHH', ['= 19.03.0'], {
    title: 'docker cp loads a library of the container and runs its code outside',
  }),
  cvesOf('a:metabase:metabase')(
    'CVE-2023-38646',
    'NLNN/U/HHH',
    ['< 0.43.7.2', '>= 0.44.0, < 0.44.7.1', '>= 0.45.0, < 0.45.4.1', '>= 0.46.0, < 0.46.6.1'],
    { title: 'The setup token can be used again and runs commands of strangers' },
  ),
  cvesOf('a:langflow:langflow')('CVE-2025-3248', 'NLNN/U/HHH', ['< 1.3.0'], {
    title: 'The code check runs code of strangers',
  }),
  cvesOf('a:pgadmin:pgadmin_4')('CVE-2024-2044', 'NLLN/C/HHH', ['< 8.4'], {
    title: "Session files of a user's making are deserialised and run code",
  }),
  cvesOf('a:sangoma:freepbx')(
    'CVE-2025-57819',
    'NLNN/U/HHH',
    ['>= 15.0.0, < 15.0.66', '>= 16.0.0, < 16.0.89', '>= 17.0.0, < 17.0.3'],
    { title: 'Strangers reach the administrator, change the database and run code' },
  ),
  cvesOf('a:plex:media_server')('CVE-2020-5741', 'NLHN/U/HHH', ['< 1.19.3'], {
    title: 'Administrators run Python code of their own',
  }),
  cvesOf('a:eclipse:mosquitto')('CVE-2023-28366', 'NLNN/U/NNH', ['>= 1.3.2, < 2.0.16'], {
    title: 'Repeated message numbers use up the memory of the broker',
  }),
  cvesOf('a:xiph:icecast')('CVE-2018-18820', 'NHNN/U/HHH', ['>= 2.4.0, < 2.4.4'], {
    title: 'Headers of a listener overflow a buffer of the address authentication',
  }),
  cvesOf('a:transmissionbt:transmission')('CVE-2018-5702', 'NLNR/U/HHH', ['<= 2.92'], {
    title: 'Web pages reach the control interface by a changed DNS answer',
  }),
];
