import type { paths } from './schema.d.ts';

export type ApiMethod = 'get' | 'post' | 'put' | 'delete';
export type ApiPath = keyof paths;

/** Paths that have a method. */
export type PathWith<M extends ApiMethod> = {
  [P in ApiPath]: paths[P] extends Record<M, infer O> ? (O extends undefined ? never : P) : never;
}[ApiPath];

type Operation<P extends ApiPath, M extends ApiMethod> = paths[P] extends Record<M, infer O> ? O : never;

type JsonOf<R> = R extends { content: { 'application/json': { data: infer D } } } ? D : never;

/** The `data` of a success. */
export type Data<P extends ApiPath, M extends ApiMethod = 'get'> =
  Operation<P, M> extends { responses: infer R }
    ? JsonOf<R extends { 200: infer S } ? S : R extends { 201: infer S } ? S : never>
    : never;

type Parameters<P extends ApiPath, M extends ApiMethod> =
  Operation<P, M> extends { parameters: infer Q } ? Q : never;

type PathParams<P extends ApiPath, M extends ApiMethod> =
  Parameters<P, M> extends { path: infer V } ? { path: V } : { path?: undefined };

type QueryParams<P extends ApiPath, M extends ApiMethod> =
  Parameters<P, M> extends { query?: infer V } ? { query?: V } : { query?: undefined };

type BodyParams<P extends ApiPath, M extends ApiMethod> =
  Operation<P, M> extends { requestBody: { content: { 'application/json': infer B } } }
    ? { body: B }
    : Operation<P, M> extends { requestBody?: { content: { 'application/json': infer B } } }
      ? { body?: B }
      : { body?: undefined };

export type GetParams<P extends ApiPath> = PathParams<P, 'get'> & QueryParams<P, 'get'>;

export type SendParams<P extends ApiPath, M extends ApiMethod> = PathParams<P, M> &
  QueryParams<P, M> &
  BodyParams<P, M> & { headers?: Record<string, string> };
