/** Major version of the program: the format of tables and files may change with it. */
export function majorOf(version: string): string {
  return version.split('.')[0] ?? '';
}
