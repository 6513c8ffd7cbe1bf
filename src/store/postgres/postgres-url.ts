/** @returns whether a text names a PostgreSQL database */
export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}

/** The URL without its password, for messages: up to the last @, as whoever reads it takes it. */
export function shownUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):[^/?#]*@/, '$1@').replace(/([?&]password=)[^&#]*/gi, '$1***');
}
