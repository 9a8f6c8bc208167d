import * as z from 'zod/mini'
import { USAGE_PAGE_SIZE } from '../../core/limits.ts'
import { USAGE_DIMENSIONS, USAGE_INTERVALS } from '../../core/usage.ts'
import { pageParameters } from './lists.ts'
import {
  agentName,
  describe,
  idOf,
  integer,
  listOf,
  oneOf,
  parameters,
  tenantId,
  time,
} from './parameter-types.ts'

export const usageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  groupBy: describe(
    listOf(USAGE_DIMENSIONS),
    'What the rows of an interval are grouped by, separated by commas. By default, an interval has one row.',
    { uniqueItems: true, param: { style: 'form', explode: false } },
  ),
  interval: describe(
    z.optional(oneOf(USAGE_INTERVALS)),
    'How long the intervals are: `hour` by default. A request can read 3 hours of the last 2 days by minute, 31 days of the last 100 days by hour, and 800 days by day.',
  ),
  from: time(
    'Return only intervals that end after this time (RFC 3339). By default, 24 hours before `to`; by minute, 1 hour.',
  ),
  to: time('Return only intervals that begin before this time (RFC 3339). Default: now.'),
  tenantId: describe(tenantId(), 'Return only the usage of this tenant.'),
  agent: agentName('Return only the usage of this agent (ID or slug).'),
  limit: describe(integer(USAGE_PAGE_SIZE), 'The maximum number of rows to return.'),
}))

export const agreementParameters = /* @__PURE__ */ parameters(() => ({
  agent: agentName('Return only what scorers say about this agent (ID or slug).'),
  scorer: agentName('Return only this scorer (slug).'),
  tenantId: describe(tenantId(), 'Return only what they say about runs of this tenant.'),
}))

export const scoreParameters = /* @__PURE__ */ parameters(() => {
  const { groupBy: _, ...shape } = usageParameters.shape
  return {
    ...shape,
    ...agreementParameters.shape,
    version: idOf('a version', 'Return only scores of this version (ID).'),
    interval: describe(
      z.optional(oneOf(USAGE_INTERVALS)),
      'How long the intervals are: `day` by default. The ranges of a request are those of `GET /v1/usage`.',
    ),
    from: time('Return only intervals that end after this time (RFC 3339). By default, 30 days before `to`.'),
  }
})
