import { cvesOf } from './entry.ts';

const confluence = cvesOf('a:atlassian:confluence_server', 'a:atlassian:confluence_data_center');
const jira = cvesOf('a:atlassian:jira', 'a:atlassian:jira_server', 'a:atlassian:jira_data_center');
const drupal = cvesOf('a:drupal:drupal');
const phpmyadmin = cvesOf('a:phpmyadmin:phpmyadmin');
const joomla = cvesOf('a:joomla:joomla!');
const vbulletin = cvesOf('a:vbulletin:vbulletin');

/** Applications served over HTTP. */
export const webApplicationCves = [
  confluence(
    'CVE-2019-3396',
    'NLNN/U/HHH',
    ['< 6.6.12', '>= 6.7.0, < 6.12.3', '>= 6.13.0, < 6.13.3', '>= 6.14.0, < 6.14.2'],
    { title: 'The widget connector reads files and renders templates of strangers' },
  ),
  confluence(
    'CVE-2019-3398',
    'NLLN/U/HHH',
    [
      '>= 2.0.0, < 6.6.13',
      '>= 6.7.0, < 6.12.4',
      '>= 6.13.0, < 6.13.4',
      '>= 6.14.0, < 6.14.3',
      '>= 6.15.0, < 6.15.2',
    ],
    { title: 'Downloads of all attachments write files anywhere' },
  ),
  confluence(
    'CVE-2021-26084',
    'NLNN/U/HHH',
    ['< 6.13.23', '>= 6.14.0, < 7.4.11', '>= 7.5.0, < 7.11.6', '>= 7.12.0, < 7.12.5'],
    { title: 'Expressions in a request run code of strangers' },
  ),
  confluence(
    'CVE-2022-26134',
    'NLNN/U/HHH',
    [
      '>= 1.3.0, < 7.4.17',
      '>= 7.13.0, < 7.13.7',
      '>= 7.14.0, < 7.14.3',
      '>= 7.15.0, < 7.15.2',
      '>= 7.16.0, < 7.16.4',
      '>= 7.17.0, < 7.17.4',
      '= 7.18.0',
    ],
    { title: 'Expressions in an address run code of strangers' },
  ),
  confluence(
    'CVE-2023-22515',
    'NLNN/U/HHH',
    ['>= 8.0.0, < 8.3.3', '>= 8.4.0, < 8.4.3', '>= 8.5.0, < 8.5.2'],
    { title: 'Strangers create an administrator' },
  ),
  confluence(
    'CVE-2023-22518',
    'NLNN/U/HHH',
    ['>= 1.0.0, < 7.19.16', '>= 7.20.0, < 8.3.4', '>= 8.4.0, < 8.4.4', '>= 8.5.0, < 8.5.3', '= 8.6.0'],
    { title: 'Strangers reset the installation and become its administrators' },
  ),
  confluence('CVE-2023-22527', 'NLNN/U/HHH', ['>= 8.0.0, < 8.5.4'], {
    title: 'A template runs code of strangers',
  }),
  jira(
    'CVE-2019-11581',
    'NLNN/U/HHH',
    [
      '>= 4.4.0, < 7.6.14',
      '>= 7.7.0, < 7.13.5',
      '>= 8.0.0, < 8.0.3',
      '>= 8.1.0, < 8.1.2',
      '>= 8.2.0, < 8.2.3',
    ],
    { title: 'The contact form renders templates of strangers and runs code' },
  ),
  jira('CVE-2021-26086', 'NLNN/U/LNN', ['< 8.5.14', '>= 8.6.0, < 8.13.6', '>= 8.14.0, < 8.16.1'], {
    title: 'A path traversal reads files below WEB-INF',
  }),
  cvesOf('a:atlassian:crowd')(
    'CVE-2019-11580',
    'NLNN/U/HHH',
    ['>= 2.1.0, < 3.0.5', '>= 3.1.0, < 3.1.6', '>= 3.2.0, < 3.2.8', '>= 3.3.0, < 3.3.5', '>= 3.4.0, < 3.4.4'],
    { title: 'A development plugin installs plugins of strangers' },
  ),
  cvesOf('a:atlassian:bitbucket')(
    'CVE-2022-36804',
    'NLLN/U/HHH',
    [
      '>= 7.0.0, < 7.6.17',
      '>= 7.7.0, < 7.17.10',
      '>= 7.18.0, < 7.21.4',
      '>= 8.0.0, < 8.0.3',
      '>= 8.1.0, < 8.1.3',
      '>= 8.2.0, < 8.2.2',
      '= 8.3.0',
    ],
    { title: 'Whoever may read a repository runs commands' },
  ),
  drupal(
    'CVE-2018-7600',
    'NLNN/U/HHH',
    ['< 7.58', '>= 8.0.0, < 8.3.9', '>= 8.4.0, < 8.4.6', '>= 8.5.0, < 8.5.1'],
    { title: 'Form fields with special names run code of strangers (Drupalgeddon 2)' },
  ),
  drupal('CVE-2018-7602', 'NLNN/U/HHH', ['>= 7.0, < 7.59', '>= 8.4.0, < 8.4.8', '>= 8.5.0, < 8.5.3'], {
    title: 'Form fields with special names run code (Drupalgeddon 3)',
  }),
  drupal('CVE-2019-6340', 'NHNN/U/HHH', ['>= 8.5.0, < 8.5.11', '>= 8.6.0, < 8.6.10'], {
    title: 'REST fields are deserialised and run code',
  }),
  drupal(
    'CVE-2020-13671',
    'NLLN/U/HHH',
    ['>= 7.0, < 7.74', '>= 8.8.0, < 8.8.11', '>= 8.9.0, < 8.9.9', '>= 9.0.0, < 9.0.8'],
    { title: 'Uploaded files with two extensions are run' },
  ),
  cvesOf('a:wordpress:wordpress')('CVE-2017-1001000', 'NLNN/U/NHN', ['>= 4.7.0, < 4.7.2'], {
    title: 'The REST interface lets strangers change posts',
  }),
  joomla('CVE-2017-8917', 'NLNN/U/HHH', ['= 3.7.0'], { title: 'SQL injection without a login' }),
  joomla('CVE-2023-23752', 'NLNN/U/LNN', ['>= 4.0.0, < 4.2.8'], {
    title: 'Web services give the configuration away, passwords of the database among it',
  }),
  phpmyadmin('CVE-2009-1151', 'NLNN/U/HHH', ['>= 2.11.0, < 2.11.9.5', '>= 3.0.0, < 3.1.3.1'], {
    title: 'The setup script writes code of strangers into the configuration',
  }),
  phpmyadmin(
    'CVE-2016-5734',
    'NLNN/U/HHH',
    ['>= 4.0.0, < 4.0.10.16', '>= 4.4.0, < 4.4.15.7', '>= 4.6.0, < 4.6.3'],
    { title: 'A search pattern runs code on old versions of PHP' },
  ),
  phpmyadmin('CVE-2018-12613', 'NLLN/U/HHH', ['>= 4.8.0, < 4.8.2'], {
    title: 'Users include files of the server and run code',
  }),
  phpmyadmin('CVE-2020-5504', 'NLLN/U/HHH', ['>= 4.0.0, < 4.9.4', '= 5.0.0'], {
    title: 'SQL injection on the page of user accounts',
  }),
  cvesOf('a:adminer:adminer')('CVE-2021-43008', 'NLNN/U/HNN', ['>= 1.12.0, <= 4.6.2'], {
    title: 'A hostile MySQL server reads files of the host',
  }),
  vbulletin('CVE-2019-16759', 'NLNN/U/HHH', ['>= 5.0.0, <= 5.5.4'], {
    title: 'A widget setting runs code of strangers',
  }),
  vbulletin('CVE-2020-17496', 'NLNN/U/HHH', ['>= 5.5.4, <= 5.6.2'], {
    title: 'The fix for CVE-2019-16759 can be passed and code run',
  }),
  cvesOf('a:dnnsoftware:dotnetnuke')('CVE-2017-9822', 'NLLN/U/HHH', ['< 9.1.1'], {
    title: 'A cookie is deserialised and runs code',
  }),
  cvesOf('a:xwiki:xwiki')('CVE-2025-24893', 'NLNN/U/HHH', ['>= 5.3, < 15.10.11', '>= 16.0.0, < 16.4.1'], {
    title: 'The search runs code of strangers',
  }),
  cvesOf('a:gitea:gitea')('CVE-2022-30781', 'NLNN/U/NHN', ['< 1.16.7'], {
    title: 'Repository addresses reach git without an escape',
  }),
];
