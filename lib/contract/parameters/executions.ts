import * as z from 'zod/mini'
import { SOURCES } from '../../core/execution.ts'
import { MAX_FILTER, MAX_SEARCHED, MAX_WAIT_SECONDS, VALUE_BYTES } from '../../core/limits.ts'
import { KEY_FILTER_RULE, parseKeyFilter } from '../../core/search-keys.ts'
import { pageParameters } from './lists.ts'
import {
  deltas,
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

function fields() {
  return describe(
    z.optional(oneOf(['all', 'summary'])),
    '`summary` leaves out the payloads: `input`, `inputAdaptations`, `output`, `feedback` and `logs`.',
  )
}

const SEARCH = `A page looks at ${MAX_SEARCHED.toLocaleString('en-US')} executions at most: see \`X-Searched-Until\` (in MCP, \`searchedUntil\`).`

function finishedRange(note = '') {
  return {
    finishedFrom: time(`Return only executions that ended at this time or later (RFC 3339).${note}`),
    finishedTo: time(`Return only executions that ended before this time (RFC 3339).${note}`),
  }
}

function keyFilter() {
  return describe(
    z.optional(
      z.string().check(z.refine((text) => parseKeyFilter(text) !== null, { error: KEY_FILTER_RULE })),
    ),
    `Return only executions with this value of a key that their version declares: \`{name}:{value}\`, or \`{name}:{prefix}*\`. A \`\\*\` at the end is an asterisk. With a prefix that thousands of executions have, a page looks at ${MAX_SEARCHED.toLocaleString('en-US')} at most.`,
    { pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}:' },
  )
}

export const lineExecutionPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status. Pages can be short, also empty, before the last one.',
  ),
  ...finishedRange(),
  fields: fields(),
}))

export const executionPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  status: describe(
    z.optional(oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'])),
    'Return only executions with this status.',
  ),
  waiting: describe(
    flag(),
    'With true, return only suspended executions, which wait for an approval, a signal or a time. With false, return only the others.',
  ),
  tenantId: describe(tenantId(), 'Return only executions of this tenant.'),
  key: keyFilter(),
  scores: describe(
    z.optional(oneOf(['low'])),
    '`low`: return only executions with a score below the minimum of its scorer that nobody has reviewed. Reviews are feedback of tokens with the scope `review`.',
  ),
  from: time('Return only executions created at this time or later (RFC 3339).'),
  to: time('Return only executions created before this time (RFC 3339).'),
  fields: fields(),
  errorCode: searchText(`Return only executions that failed with this code. ${SEARCH}`, MAX_FILTER.errorCode),
  errorText: searchText(
    `Return only executions that failed with an error whose code or message contains this text; upper and lower case are the same. ${SEARCH}`,
    MAX_FILTER.errorText,
  ),
  version: idOf('a version', `Return only executions of this version (ID). ${SEARCH}`),
  source: describe(
    z.optional(oneOf(SOURCES)),
    `Return only executions with this source. Executions of a trial are in no list but that of the trial: with TRIAL, reruns are listed that take something from a recording. ${SEARCH}`,
  ),
  model: searchText(`Return only executions whose record has this model. ${SEARCH}`, MAX_FILTER.model),
  ...finishedRange(` ${SEARCH}`),
}))

/** For clients that show a value of megabytes only on request. */
const maxValueBytes = () =>
  describe(
    integer(VALUE_BYTES),
    'Leave out each input, output, result and text that has more bytes of JSON. `omitted` of the record has their sizes.',
  )

export const executionParameters = /* @__PURE__ */ parameters(() => ({
  adaptedInput: describe(
    flag(),
    'Add the input that the agent received as `adaptedInput`, if it differs from the one that was sent.',
  ),
  maxValueBytes: maxValueBytes(),
  requestedOptions: describe(
    flag(),
    'Add what the request chose in place of the settings of the version as `requestedOptions`.',
  ),
}))

export const stepPageParameters = /* @__PURE__ */ parameters(() => ({
  ...pageParameters.shape,
  maxValueBytes: maxValueBytes(),
}))

export const eventParameters = /* @__PURE__ */ parameters(() => ({
  maxValueBytes: maxValueBytes(),
  deltas: deltas(),
}))

export const waitHeaders = /* @__PURE__ */ parameters(() => ({
  Prefer: describe(
    z.pipe(z.optional(z.string()), z.transform(parseWait)),
    `\`wait=N\` responds when the execution is final or is suspended, but not for the suspension that it is in when the request arrives, or after N seconds (at most ${MAX_WAIT_SECONDS}).`,
    { example: 'wait=20' },
  ),
}))

/** The seconds to wait (RFC 7240, section 4.3); 0 by default. Unknown preferences are ignored. */
function parseWait(header = ''): number {
  const preferences = header.split(',').map((part) => part.split(';')[0]?.trim() ?? '')
  const wait = preferences.find((part) => /^wait\s*=/i.test(part))
  const seconds = /^wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")$/i.exec(wait ?? '')
  return Math.min(Number(seconds?.[1] ?? seconds?.[2] ?? 0), MAX_WAIT_SECONDS)
}

export const eventHeaders = /* @__PURE__ */ parameters(() => ({
  'Last-Event-ID': describe(
    z.optional(
      z.pipe(
        z.string().check(
          z.regex(/^(?:0|[1-9]\d{0,4})?$/, {
            error: 'must be the id of an event that was received: the number of a step',
          }),
        ),
        z.transform((text) => Number(text)),
      ),
    ),
    'The number of the last step that was received. The stream continues after it.',
    { example: '3' },
  ),
}))

export const batchHeaders = /* @__PURE__ */ parameters(() => ({
  'Last-Event-ID': describe(
    z.optional(z.string().check(z.maxLength(100, { error: 'must be the id of an event that was received' }))),
    'Of an event stream: the ID of the last event that was received. The stream begins with the next change.',
  ),
}))
