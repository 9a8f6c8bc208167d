import * as z from 'zod/mini'
import { MAX_OVERLAP_SECONDS } from '../../core/access.ts'
import { AUDIT_ACTIONS } from '../../core/audit.ts'
import { CURSOR } from '../../core/cursor.ts'
import { MAX_FILTER, PAGE_SIZE, RESULT_PAGE_SIZE } from '../../core/limits.ts'
import { VERDICTS } from '../../core/trial.ts'
import { LIMITED } from '../../core/usage-limits.ts'
import {
  agentName,
  describe,
  flag,
  idOf,
  integer,
  oneOf,
  parameters,
  searchText,
  tenantId,
  time,
} from './parameter-types.ts'

export const pageParameters = /* @__PURE__ */ parameters(() => ({
  limit: describe(integer(PAGE_SIZE), 'The maximum number of items to return.'),
  cursor: describe(
    z.optional(z.string()),
    'The position to continue from: the cursor in the `next` link of the previous page.',
    { pattern: CURSOR.source },
  ),
}))

export const batchPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  agent: agentName('Return only batches of this agent (ID or slug).'),
  tenantId: describe(tenantId(), 'Return only batches of this tenant.'),
}))

export const trialPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  agent: agentName('Return only trials of this agent (ID or slug).'),
  version: idOf('a version', 'Return only trials of this version.'),
}))

export const trialItemPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  verdict: describe(z.optional(oneOf(VERDICTS)), 'Return only executions with this verdict.'),
}))

/** Absent and without a cursor, all results are streamed. */
export const resultPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  limit: describe(
    integer({ min: RESULT_PAGE_SIZE.min, max: RESULT_PAGE_SIZE.max }),
    'Return a page of at most so many results, and the `next` link. By default, all results are returned, if the setting `responseStreaming` is on; otherwise, pages.',
  ),
}))

export const agentPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  archived: describe(flag(), 'Also return archived agents.'),
}))

export const versionParameters = /* @__PURE__ */ parameters(() => ({
  frontMatter: describe(flag(), 'Add the front matter of the document as `frontMatter`.'),
  sourceCode: describe(flag(), 'Add the code of a code agent as `sourceCode`.'),
}))

export const promotionParameters = /* @__PURE__ */ parameters(() => ({
  trial: idOf(
    'a trial',
    'The ID of a trial of this version. It has to meet the limits of the version that is current.',
  ),
}))

export const approvalPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  agent: agentName('Return only approvals of this agent (ID or slug).'),
  tenantId: describe(tenantId(), 'Return only approvals of executions of this tenant.'),
  decided: describe(
    flag(),
    'With true, return what people have decided, the latest decision first, instead of what is open. Pages can be short, also empty, before the last one.',
  ),
  fields: describe(
    z.optional(oneOf(['all', 'summary'])),
    '`summary` leaves out `input` and `inputSchema`, which can be large.',
  ),
}))

export const limitsPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  kind: describe(z.optional(oneOf(LIMITED)), 'Return only limits of tenants, or only limits of agents.'),
}))

export const revocationParameters = /* @__PURE__ */ parameters(() => ({
  afterSeconds: describe(
    integer({ min: 1, max: MAX_OVERLAP_SECONDS }),
    'How many seconds the token stays valid, for clients that change to another one: at most 30 days, and never longer than it would have been. By default, it is revoked at once.',
  ),
}))

export const auditParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  from: time('Return only changes that started at this time or later (RFC 3339).'),
  to: time('Return only changes that started before this time (RFC 3339).'),
  action: describe(z.optional(oneOf(AUDIT_ACTIONS)), 'Return only changes of this kind.'),
  actor: searchText(
    'Return only changes by this actor: its ID, such as that of a token, or its subject.',
    MAX_FILTER.actor,
  ),
  target: searchText(
    'Return only changes of what has this ID: of an agent, also those of its versions and schedules; of an execution, also those of its approvals. Pages of filtered lists can be short, also empty, before the last one.',
    MAX_FILTER.target,
  ),
}))
