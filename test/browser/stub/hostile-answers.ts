import { anItem, aTrial } from '../../support/a-trial.ts'
import { HIDDEN_STRINGS, HOSTILE_STRINGS } from './hostile-strings.ts'
import {
  aBatch,
  aComparisonRecord,
  aDelivery,
  aLimitsRecord,
  aMe,
  anAgentRecord,
  anAgreement,
  anApproval,
  anAuditEntry,
  anExecutionRecord,
  aRunSummary,
  aSchedule,
  aScore,
  aScoreRow,
  aStepRecord,
  aToken,
  aUsageRow,
  aVersionRecord,
  aVersionWithDocument,
  aWebhook,
  idOf,
  someScoreSums,
} from './records.ts'
import type { Answers } from './start-stub.ts'

const PER_PAGE = 50
const AT = '2026-11-20T09:00:00.000Z'

/** The strings of a part of an answer: parts that are shown on one page have different ones. */
const stringsFrom = (start: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => HOSTILE_STRINGS[(start + index) % HOSTILE_STRINGS.length] ?? '')

const [title = '', description = '', tenantId = '', code = '', message = '', logs = '', model = ''] =
  stringsFrom(3, 7)

/** Names, descriptions, choices, defaults and patterns of a schema. */
const schema = Object.fromEntries(
  stringsFrom(20, 30).map((text, index) => [
    index % 2 ? text : `field${index}`,
    { type: 'string', description: text, title: text, enum: [text, 'other'], default: text, format: text },
  ]),
)

const scores = stringsFrom(90, 40).map((text) => aScore({ agent: text, reason: text }))

const executions = stringsFrom(0, HOSTILE_STRINGS.length).map((text, index) =>
  anExecutionRecord(index, {
    tenantId: text,
    model: text,
    scores: [aScore({ agent: text, reason: text })],
    ...(index % 2 && { status: 'ERROR', error: { code: text, message: text } }),
  }),
)

const execution = anExecutionRecord(0, {
  ...{ tenantId, model, logs: `${logs}\n${stringsFrom(0, 30).join('\n')}` },
  status: 'ERROR',
  source: 'AGENT',
  parentExecutionId: idOf(7),
  input: { first: stringsFrom(0, 90), [title]: { [description]: stringsFrom(90, 90) } },
  output: { result: stringsFrom(180, 90) },
  error: { code, message, at: title, errors: [{ path: title, message: description }], stack: logs },
  inputAdaptations: stringsFrom(40, 20).map((text) => ({
    path: text,
    kind: 'renamed',
    from: text,
    message: text,
  })),
  learnedFrom: [idOf(8)],
  scores,
  feedback: {
    rating: -1,
    note: message,
    correctedOutput: { [code]: title },
    updatedAt: AT,
  },
})

const decidedStep = aStepRecord(14, {
  wait: { kind: 'approval', id: 'x', title, data: { [title]: description } },
  result: { decision: 'approve', by: tenantId, decidedAt: code, note: message, input: { [logs]: model } },
})

const steps = [
  ...stringsFrom(60, 12).map((text, index) =>
    aStepRecord(index + 1, {
      text,
      toolCalls: [
        {
          id: `call-${index}`,
          name: text,
          input: { [text]: text },
          result: { [text]: [text] },
          durationMs: 5,
        },
        { id: `failed-${index}`, name: 'tool', input: text, error: text, durationMs: 5 },
      ],
    }),
  ),
  aStepRecord(13, { name: title, result: { [description]: message }, text: undefined }),
  decidedStep,
]

const usage = stringsFrom(0, HOSTILE_STRINGS.length).map((text, index) =>
  aUsageRow({ agentId: idOf(100_000 + index), tenantId: text, errors: { [text]: 1 + index } }),
)

const approvals = stringsFrom(0, 90).map((text, index) =>
  anApproval(index, { title: text, name: text, tenantId: text, input: { [text]: text } }),
)

const batches = stringsFrom(0, 90).map((text, index) =>
  aBatch(index, { tenantId: text, model: text, error: { code: text, message: text } }),
)

const lines = stringsFrom(0, 90).map((text, index) =>
  anExecutionRecord(index, {
    source: 'BATCH',
    customId: text,
    status: 'ERROR',
    error: { code: text, message },
  }),
)

const schedules = stringsFrom(0, 90).map((text, index) =>
  aSchedule({
    ...{ name: text, cron: text, timezone: text, tenantId: text, input: { [text]: text } },
    options: { [text]: text },
    firings: [
      {
        ...{ scheduledFor: `2026-11-20T09:00:${String(index % 60).padStart(2, '0')}.000Z`, status: 'FAILED' },
        ...{ executionId: null, code: text },
      },
    ],
  }),
)
const differences = (start: number) =>
  stringsFrom(start, 20).map((text, index) => ({
    path: `/${text}/${index}`,
    left: text,
    ...(index % 2 && { right: { [text]: [text] } }),
  }))

const comparison = aComparisonRecord({
  left: aRunSummary(0, { tenantId, model, error: { code, message }, status: 'ERROR' }),
  right: aRunSummary(1, { tenantId: title, model: description }),
  request: { differences: differences(0) },
  differences: differences(20),
  steps: stringsFrom(0, HOSTILE_STRINGS.length).map((name, index) => ({
    ...{ number: index + 1, otherNumber: index % 3 ? index + 1 : null, name },
    ...{ isSame: index % 2 === 0, differences: index % 2 ? differences(40 + index) : [] },
  })),
})
const webhooks = stringsFrom(0, 20).map((text, index) =>
  aWebhook({ id: idOf(500 + index), url: text, tenants: [text], allowedHosts: [text] }),
)

const deliveries = stringsFrom(0, HOSTILE_STRINGS.length).map((text, index) =>
  aDelivery(index, { id: text, type: text, status: 'FAILED', error: text, responseStatus: null }),
)

const trial = aTrial(
  { CHANGED: 60, ERROR: 1 },
  { tenantId, ignore: [title], tools: { default: 'recorded', [code]: 'live' }, error: { code, message } },
)

const items = stringsFrom(0, 60).map((text, index) => ({
  ...anItem('CHANGED', [{ path: text, original: text, trial: { [text]: text } }]),
  originalExecutionId: idOf(2_000 + index),
  error: { code: text, message: text },
}))

const changes = stringsFrom(0, HOSTILE_STRINGS.length).map((text, index) =>
  anAuditEntry(index, {
    actor: { kind: 'subject', id: text, name: text, subject: text },
    source: { interface: 'HTTP', ip: text, userAgent: text, host: text },
    target: { kind: 'version', id: text, agentId: text },
    ...{ changes: { [text]: { from: text, to: text } }, result: 'FAILED', error: text },
  }),
)

const problem = (status: number) => ({
  status,
  body: {
    type: 'about:blank',
    title,
    status,
    detail: message,
    instance: description,
    code,
    errors: [{ path: `/${code}`, message }],
  },
  headers: { 'Content-Type': 'application/problem+json' },
})

/** An API whose every text is hostile. Identifiers are valid, except those in the paths that the test asks for. */
export const hostileAnswers: Answers = {
  'get-me': () => ({ status: 200, body: { ...aMe(), tenantId: null, agents: [title] } }),
  'list-agents': ({ queryStringParameters }) => {
    const start = Number(queryStringParameters?.cursor ?? 0)
    const next = start + PER_PAGE
    const isLast = next >= HOSTILE_STRINGS.length
    const body = stringsFrom(start, Math.min(PER_PAGE, HOSTILE_STRINGS.length - start)).map((text, index) =>
      anAgentRecord({
        ...{ id: idOf(100_000 + start + index), slug: text, title: text, description: text },
        rollout: { versionId: idOf(1), percent: 10, key: 'tenant', startedAt: AT, updatedAt: AT },
        abortedRollout: { versionId: idOf(1), at: AT },
      }),
    )
    const link = `</v1/agents?cursor=${next}&limit=${PER_PAGE}>; rel="next"`
    return { status: 200, body, ...(!isLast && { headers: { Link: link } }) }
  },
  'get-agent': () => ({
    status: 200,
    body: anAgentRecord({ slug: code, title, description, inputSchema: schema, outputSchema: schema }),
  }),
  'promote-version': () => problem(409),
  'list-versions': () => ({
    status: 200,
    body: [
      aVersionRecord({
        ...{ title, description, model, inputSchema: schema, outputSchema: schema, message },
        abortedRollout: { at: AT, reason: logs },
      }),
    ],
  }),
  'get-version': ({ pathParameters }) => ({
    status: 200,
    body: aVersionWithDocument(
      pathParameters?.versionId === '1'
        ? {
            ...{ title, description, model, inputSchema: schema, outputSchema: schema, instructions: title },
            ...{ message, fallbacks: [tenantId], env: [code], scorers: [{ agent: title }] },
            abortedRollout: { at: AT, reason: logs },
            tools: stringsFrom(60, 12).map((text) => ({ name: text, description: text, [text]: text })),
          }
        : { instructions: description, sourceCode: stringsFrom(0, 90).join('\n') },
    ),
  }),
  'list-executions': () => ({ status: 200, body: executions }),
  'list-agent-executions': () => ({ status: 200, body: executions }),
  'get-execution': () => ({ status: 200, body: execution }),
  'list-steps': () => ({ status: 200, body: steps }),
  'compare-executions': () => ({ status: 200, body: comparison }),
  'get-usage': () => ({ status: 200, body: usage }),
  'list-approvals': () => ({ status: 200, body: approvals }),
  'decide-approval': () => problem(422),
  'list-batches': () => ({ status: 200, body: batches }),
  'get-batch': () => ({ status: 200, body: batches[5] }),
  'list-batch-executions': () => ({ status: 200, body: lines }),
  'start-batch': () => problem(422),
  'list-schedules': () => ({ status: 200, body: schedules }),
  'get-schedule': () => ({ status: 200, body: schedules[5] }),
  'put-schedule': () => problem(422),
  'list-limits': () => ({
    status: 200,
    body: stringsFrom(0, 90).map((text) => aLimitsRecord(text)),
  }),
  'get-tenant-limits': () => problem(422),
  'list-tokens': () => ({
    status: 200,
    body: stringsFrom(0, 90).map((text, index) =>
      aToken(index, { name: text, prefix: text, tenantId: text, agents: [text] }),
    ),
  }),
  'create-token': () => problem(422),
  'revoke-token': () => problem(422),
  'list-audit-entries': () => ({ status: 200, body: changes }),
  'list-webhooks': () => ({ status: 200, body: webhooks }),
  'get-webhook': () => ({ status: 200, body: aWebhook({ url: title, tenants: [tenantId] }) }),
  'list-deliveries': () => ({ status: 200, body: deliveries }),
  'list-trials': () => ({ status: 200, body: [trial] }),
  'get-trial': () => ({
    status: 200,
    body: { ...trial, sums: { ...trial.sums, scores: stringsFrom(0, 9).map(someScoreSums) } },
  }),
  'get-scores': () => ({ status: 200, body: stringsFrom(0, 9).map((scorer) => aScoreRow({ scorer })) }),
  'get-agreement': () => ({ status: 200, body: stringsFrom(0, 90).map((scorer) => anAgreement({ scorer })) }),
  'list-trial-items': () => ({ status: 200, body: items }),
  'run-agent': () => problem(422),
  'give-feedback': () => problem(422),
  'delete-execution': () => problem(409),
}

/** The same answers, in which every hostile string begins with one that has hidden characters. */
export function withHidden(answers: Answers): Answers {
  let count = 0
  const change = (value: unknown): unknown => {
    if (typeof value === 'string')
      return HOSTILE_STRINGS.includes(value)
        ? `${HIDDEN_STRINGS[count++ % HIDDEN_STRINGS.length]} ${value}`
        : value
    if (Array.isArray(value)) return value.map(change)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [change(name), change(each)]))
  }
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (event: Parameters<typeof answer>[0]) => {
        const { body, ...response } = answer(event)
        return { ...response, body: change(body) }
      },
    ]),
  )
}
