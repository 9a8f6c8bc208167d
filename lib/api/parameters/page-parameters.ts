import * as z from 'zod/mini'
import { PAGE_SIZE } from '../../core/limits.ts'
import { describe, integer, oneOf, tenantId } from './parameter.ts'

export const pageParameters = z.object({
  limit: describe(integer(PAGE_SIZE), 'The maximum number of items to return.'),
  cursor: describe(
    z.optional(z.string()),
    'The position to continue from: the cursor in the `next` link of the previous page.',
  ),
})

export const executionPageParameters = z.extend(pageParameters, {
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status.',
  ),
  tenantId: describe(tenantId(), 'Return only executions of this tenant.'),
})
