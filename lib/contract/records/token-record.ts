import * as z from 'zod'
import { SCOPES } from '../../core/access.ts'

const token = z.object({
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
})

export const tokenRecord = token.meta({ id: 'Token' })

export const createdTokenRecord = token
  .extend({ token: z.string().describe('The token itself. It is shown once: store it where it is used.') })
  .meta({ id: 'CreatedToken' })

export type TokenRecord = z.infer<typeof tokenRecord>
export type CreatedTokenRecord = z.infer<typeof createdTokenRecord>
