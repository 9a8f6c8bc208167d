import * as z from 'zod/mini'
import { CURSOR } from '../../core/cursor.ts'
import { PAGE_SIZE } from '../../core/limits.ts'
import { dateTime, describe, flag, integer, oneOf, tenantId } from './parameter.ts'

export const pageParameters = z.object({
  limit: describe(integer(PAGE_SIZE), 'The maximum number of items to return.'),
  cursor: describe(
    z.optional(z.string()),
    'The position to continue from: the cursor in the `next` link of the previous page.',
    { pattern: CURSOR.source },
  ),
})

export const agentPageParameters = z.extend(pageParameters, {
  archived: describe(flag(), 'Also return archived agents.'),
})

const DATE_TIME = { format: 'date-time' }

export const executionPageParameters = z.extend(pageParameters, {
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status.',
  ),
  tenantId: describe(tenantId(), 'Return only executions of this tenant.'),
  from: describe(dateTime(), 'Return only executions created at this time or later (RFC 3339).', DATE_TIME),
  to: describe(dateTime(), 'Return only executions created before this time (RFC 3339).', DATE_TIME),
  fields: describe(
    z.optional(oneOf(['all', 'summary'])),
    '`summary` leaves out the payloads: `input`, `inputAdaptations`, `output`, `feedback` and `logs`.',
  ),
})
