import * as z from 'zod'
import { SCOPES } from '../../core/access.ts'
import type { Token } from '../../core/agent.ts'
import { schema } from './fields.ts'

const token = /* @__PURE__ */ schema(() =>
  z.object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().describe('How the token begins.'),
    scopes: z.array(z.enum(SCOPES)),
    agents: z
      .array(z.string())
      .nullable()
      .describe('IDs or slugs of the only agents that it may use. Null: all of them.'),
    tenantId: z.string().nullable().describe('The only tenant that it may use. Null: any.'),
    rate: z.int().nullable().describe('The requests per second that it may send. Null: no limit.'),
    createdAt: z.iso.datetime(),
    createdBy: z.uuid().describe('The ID of a token, of a person or of an operator.'),
    expiresAt: z.iso.datetime().nullable().describe('Null: it does not expire.'),
    revokedAt: z.iso.datetime().nullable().describe('Null: it is not revoked.'),
    lastUsedAt: z.iso.datetime().nullable().describe('The hour of its last use. Null: it was not used.'),
  }),
)

export const tokenRecord = /* @__PURE__ */ schema(() => token.meta({ id: 'Token' }))

export const createdTokenRecord = /* @__PURE__ */ schema(() =>
  token
    .extend({ token: z.string().describe('The token itself. It is shown once: store it where it is used.') })
    .meta({ id: 'CreatedToken' }),
)

export type TokenRecord = z.infer<typeof tokenRecord>
export type CreatedTokenRecord = z.infer<typeof createdTokenRecord>

/** Without the hash. */
export const toTokenRecord = (token: Token): TokenRecord => ({
  id: token.id,
  name: token.name,
  prefix: token.prefix,
  scopes: token.scopes ?? [...SCOPES],
  agents: token.agents,
  tenantId: token.tenantId,
  rate: token.rate,
  createdAt: token.createdAt,
  createdBy: token.createdBy,
  expiresAt: token.expiresAt,
  revokedAt: token.revokedAt,
  lastUsedAt: token.lastUsedAt,
})
