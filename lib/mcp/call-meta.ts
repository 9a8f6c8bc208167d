import * as z from 'zod/mini'
import { runHeaders, runParameters } from '../api/parameters.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { InvalidParams } from './invalid-params.ts'

const { tenantId, version } = runParameters.shape

/** What `_meta` of a call of an agent may contain besides the keys of the protocol, with the rules of the HTTP parameters. */
const callMeta = z.object({
  tenantId,
  version,
  idempotencyKey: runHeaders.shape['Idempotency-Key'],
  useCache: z.optional(z.boolean({ error: 'must be true or false' })),
})

export type CallMeta = z.output<typeof callMeta>

/** @throws InvalidParams that names the keys */
export function parseCallMeta(meta: Json | undefined): CallMeta {
  const { data, error } = callMeta.safeParse(isJsonObject(meta) ? meta : {})
  if (!error) return data
  throw new InvalidParams(
    error.issues.map(({ path, message }) => `_meta.${path[0]?.toString()} ${message}.`).join(' '),
  )
}
