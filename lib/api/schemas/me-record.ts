import * as z from 'zod'
import { SCOPES } from '../../core/access.ts'

export const meRecord = z
  .object({
    organizationId: z.uuid(),
    tokenId: z.uuid(),
    scopes: z.array(z.enum(SCOPES)).meta({
      description:
        'read: GET routes. run: start and cancel executions, and give feedback. manage: everything else.',
    }),
    agents: z
      .array(z.string())
      .nullable()
      .meta({ description: 'IDs or slugs of the agents that the token may use. Null for all of them.' }),
    tenantId: z
      .string()
      .nullable()
      .meta({ description: 'The tenant to which the token is bound. Null if it is not.' }),
    rate: z
      .int()
      .nullable()
      .meta({ description: 'The requests per second that the token may send. Null for no limit.' }),
  })
  .meta({ id: 'Me' })

export type MeRecord = z.infer<typeof meRecord>
