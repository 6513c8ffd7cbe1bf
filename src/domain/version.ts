/** The first number of a version of the program: forms of tables and files may change with it. */
export function majorOf(version: string): string {
  return version.split('.')[0] ?? '';
}
